# Starts the interpreter as often as the argument says, without a program to speak of.
use strict;
use warnings;

my $starts = shift // 1;
for (1 .. $starts) {
    system($^X, "-e", "0") == 0 or die "the interpreter did not start: $?\n";
}
