"""The news part of the training pipeline: rows, split, augmentation, teachers, new rows written by a teacher.

Nothing here runs when an answer is given: teachers exist at training time only. Knows neither the student's tokenizer
nor its network; imports no engine, so it runs on a bare machine with torch, numpy and tokenizers.
"""
