"""What happened, proved: facts of a run, theorems over facts, points that solvers find, receipts and their verifier.

`facts` and `theorems` are shared by `certify`, which makes a receipt, and `verify`, which checks one; `solve` returns
points and nothing else, and `verify` never imports it.
"""
