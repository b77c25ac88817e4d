"""Random hidden nodes: their outputs, and the output weights of networks that share them."""
