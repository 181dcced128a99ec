# Becomes the first process of a Debian: systemd, on a root whose changes go elsewhere. Runs in name spaces of its own.
# Arguments: the root that is not changed, a folder for what changes.
set -eu
base=$1 work=$2
mount --make-rprivate /
mkdir -p "$work/upper" "$work/work" "$work/root" "$work/docker"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$work/root"
cd "$work/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for number in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${number%:*}" "dev/${number#*:}"; done
mount -t tmpfs -o mode=755 tmpfs run
# Docker keeps its layers in a file system of the kind that it is used to.
mkdir -p var/lib/docker
mount --bind "$work/docker" var/lib/docker
mkdir -p .before
pivot_root . .before
cd /
umount -l /.before
rmdir /.before
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=console
