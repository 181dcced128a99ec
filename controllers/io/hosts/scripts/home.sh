# Every command begins at home, with the same locale and mask, whatever the user's shell is set to.
umask 022
export LC_ALL=C
cd || exit 1
