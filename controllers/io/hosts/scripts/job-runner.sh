# What runs detached, in a session of its own, the head of its process group. Its log holds what the script says; its
# input, which may hold secrets, is gone when it ends. The watch ends the whole group at the limit.
id=$1 limit=$2
cd "$id" || exit 1
read -r state start <<EOT
$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f1,20)
EOT
printf '%s %s %s\n' $$ "$start" "$(cat /proc/sys/kernel/random/boot_id)" > runner.partial && mv runner.partial runner
[ -f cancelled ] || [ -f exit ] && exit
( sleep "$limit"; printf '137\n' > exit.limit && mv exit.limit exit; rm -f input; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &
watch=$!
umask 022
sh ./script < input > log 2>&1
code=$?
umask 077
rm -f input
printf '%s\n' "$code" > exit.partial && mv exit.partial exit
kill -KILL 0
