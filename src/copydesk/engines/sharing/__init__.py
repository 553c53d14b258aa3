"""One engine, several processes: a server beside the engine merges what clients in other processes ask for.

Clients are engines to whoever holds them. Knows no particular engine, no texts and no answers.
"""
