# SPDX-License-Identifier: MIT
"""The random numbers of the generators in examples/io: SplitMix64. The scripts here import it."""

ONES = 2**64 - 1


class Draws:
    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & ONES
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ONES
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ONES
        return z ^ (z >> 31)

    def decimal(self):
        return (1 + self.draw() % 999999) / 1e6
