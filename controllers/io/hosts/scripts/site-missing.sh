# Says which of the sums, a line each after the root, the store does not have.
IFS= read -r root || exit 2
mkdir -p "$root/store" || exit 1
while IFS= read -r sum; do [ -f "$root/store/$sum" ] || printf '%s\n' "$sum"; done
