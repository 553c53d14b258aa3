"""`copydesk bench engines`: Transformers as guides use it, step by step, and ours, on the same questions.

Each measurement is a process of its own (`child`); `bench` puts them in turns and makes a table of them.
"""
