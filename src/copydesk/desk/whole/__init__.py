"""The desk over engines that write whole answers themselves: it asks, checks what comes, and locates values."""

from copydesk.desk.whole.desk import WholeDesk

__all__ = ["WholeDesk"]
