"""What results say: standings, comparisons, ratings, and how sure they are.

Pure: results go in, numbers come out. The arena computes with it, and whoever has an export of a tournament can
do it again.
"""
