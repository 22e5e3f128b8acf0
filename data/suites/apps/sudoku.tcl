# Solves sudokus by candidates and trial: sudoku.tcl TIMES.

proc peers {} {
    for {set cell 0} {$cell < 81} {incr cell} {
        set row [expr {$cell / 9}]
        set column [expr {$cell % 9}]
        set found {}
        for {set other 0} {$other < 81} {incr other} {
            set r [expr {$other / 9}]
            set c [expr {$other % 9}]
            if {$other != $cell && ($r == $row || $c == $column ||
                    ($r / 3 == $row / 3 && $c / 3 == $column / 3))} {
                lappend found $other
            }
        }
        set ::peers($cell) $found
    }
}

# The digits that no peer of the cell has.
proc candidates {board cell} {
    foreach digit {1 2 3 4 5 6 7 8 9} {
        set free($digit) 1
    }
    foreach other $::peers($cell) {
        set free([lindex $board $other]) 0
    }
    set digits {}
    foreach digit {1 2 3 4 5 6 7 8 9} {
        if {$free($digit)} {
            lappend digits $digit
        }
    }
    return $digits
}

proc solve {board} {
    set best -1
    set fewest 10
    for {set cell 0} {$cell < 81} {incr cell} {
        if {[lindex $board $cell] == 0} {
            set digits [candidates $board $cell]
            if {[llength $digits] < $fewest} {
                set fewest [llength $digits]
                set best $cell
                set choice $digits
                if {$fewest < 2} {
                    break
                }
            }
        }
    }
    if {$best < 0} {
        return $board
    }
    foreach digit $choice {
        set solved [solve [lreplace $board $best $best $digit]]
        if {[llength $solved] > 0} {
            return $solved
        }
    }
    return {}
}

set puzzles {
    530070000600195000098000060800060003400803001700020006060000280000419005000080079
    000000010400000000020000000000050407008000300001090000300400200050100000000806000
    000000012000035000000600070700000300000400800100000000000120000080000040050000600
}
peers
set times [lindex $argv 0]
for {set i 0} {$i < $times} {incr i} {
    foreach puzzle $puzzles {
        set solution [solve [split $puzzle ""]]
        foreach digit {1 2 3 4 5 6 7 8 9} {
            if {[llength [lsearch -all $solution $digit]] != 9} {
                puts stderr "sudoku.tcl: not solved: $puzzle"
                exit 1
            }
        }
        puts [join $solution ""]
    }
}
