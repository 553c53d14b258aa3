"""Worker processes for many rows: each a desk of its own, on engines that are run for all of them.

Over the desk and the tasks, under the model. A single call never comes here.
"""
