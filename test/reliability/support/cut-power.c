// cut-power FOLDER: the ext4 file system there stops at once, as by a power cut: what is not on its
// disk never comes there, its journal is not written out, and every later call fails.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

int main(int count, char **arguments) {
  uint32_t without_journal = 2;
  int folder = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  if (folder >= 0 && ioctl(folder, _IOR('X', 125, uint32_t), &without_journal) == 0) return 0;
  perror("cut-power");
  return 1;
}
