"""Synthetic recipients: address lines with their six fields, seeded, in every shape that people paste.

`material` gathers names of places and people, `divisions` writes a place down and says what that implies, `locations`,
`people` and `numbers` make the other parts, `layouts` puts them into one text, `lines` draws whole examples. Nothing here
knows tokens, models or files other than the material.
"""
