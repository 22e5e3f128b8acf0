n=$1; d=$((n - 7)); echo cost $((10 + ${d#-}))
