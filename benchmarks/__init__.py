"""What the shared work of elmbench's searches is worth, measured: `make bench`.

A row sets one side, usually a search or a fit by elmbench, against another: the same candidates, folds and scores by
scikit-learn, by one fit each or by another package, or what this machine's arithmetic or memory allows. Both sides are
timed in turn, in one sitting, with one thread of linear algebra; see `measure`. Nothing here is a test.
"""
