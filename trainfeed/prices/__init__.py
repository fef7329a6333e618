"""What AWS asks for, each price with its source and its birthday.

The shipped book works offline; `trainfeed prices refresh` writes a newer one for a user. Prices are list
prices: on demand, in USD, before taxes and discounts.
"""

from trainfeed.prices.book import PriceBook
from trainfeed.prices.record import STALE_AFTER, Charge, Confidence, PriceRecord, Tier, Unit
from trainfeed.prices.sheet import BookError

__all__ = ["STALE_AFTER", "BookError", "Charge", "Confidence", "PriceBook", "PriceRecord", "Tier", "Unit"]
