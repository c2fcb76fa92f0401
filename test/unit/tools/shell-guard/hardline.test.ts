// What is refused at every level, in plain words and in disguise; and lines that only look like it.
import { expect, test } from "bun:test";
import { cwd, judge, short } from "./judge.ts";

const removal = [
  "rm -rf /", "rm -rf /*", "rm -rf ~", "rm -rf ~/", "rm -rf ~/*", "rm -r -f /", "rm -fr /", "rm -Rf /", "rm --recursive --force /", "rm --recurs /", "rm -rf --no-preserve-root /", "rm -rf -- /",
  "rm -rf //", "rm -rf /./", "rm -rf /../", "rm -rf /home/../", "rm -rf /*/*", "rm -rf /.[!.]* /*", "rm -rf /home/ann", "rm -rf /home/ann/*", "rm -rf /home", "rm -rf $HOME", 'rm -rf "$HOME"', "rm -rf ${HOME}/", 'rm -rf "${HOME}"/*', "rm -rf ../..", "rm -rf ~ann", "rm x -rf y /",
  "sudo rm -rf /", "sudo -u root rm -rf /", "sudo -n -E -- rm -rf ~", "doas rm -rf /", "env rm -rf /", "env A=1 -u B rm -rf /", "env -S 'rm -rf /'", "nohup rm -rf / &", "nice -n 5 rm -rf /", "timeout 5 rm -rf /", "timeout -k 1 5s rm -rf /", "time rm -rf /", "exec rm -rf /", "command rm -rf /", "builtin command rm -rf /", "setsid rm -rf /", "stdbuf -oL rm -rf /", "busybox rm -rf /", "flock /tmp/l rm -rf /", "xargs rm -rf /", "sudo env nohup rm -rf /", "npx rm -rf /", "chroot /x rm -rf /",
  "/bin/rm -rf /", "/usr/bin/../bin/rm -rf /", "\\rm -rf /", "r\\m -rf /", "'rm' -rf /", '"rm" "-rf" "/"', "r''m -rf /", "r\"\"m -r'f' '/'", "$'rm' -rf /", "$'\\x72\\x6d' -rf /", "rm -rf $'/'", "rm${IFS}-rf${IFS}/", "{rm,-rf,/}", "rm -rf {/,x}", "r\\\nm -rf /", "rm \\\n -rf \\\n /",
  "sh -c 'rm -rf /'", "bash -c \"rm -rf /\"", "bash -lc 'rm -rf /'", "sh -e -c 'rm -rf /'", "sh -c 'sh -c \"rm -rf /\"'", "sh -c '$0 -rf /' rm", "sh -c 'rm -rf $1' x /", "sh -c 'rm -rf \"$@\"' x /", "zsh -c 'rm -rf ~'", "eval 'rm -rf /'", "eval rm -rf /", "eval \"rm\" \"-rf /\"", "trap 'rm -rf /' EXIT", "su -c 'rm -rf /'", "su root -c 'rm -rf /'", "watch 'rm -rf /'", "script -qc 'rm -rf /' /dev/null",
  "true && rm -rf /", "false || rm -rf /", "ls; rm -rf /", "ls\nrm -rf /", "ls & rm -rf /", "ls | rm -rf /", "(rm -rf /)", "{ rm -rf /; }", "! rm -rf /", "if true; then rm -rf /; fi", "while :; do rm -rf /; done", "for f in /; do rm -rf $f; done", "for f in a / b; do rm -rf \"$f\"; done", "case x in x) rm -rf /;; esac", "case x in a|b) ls;; (*) rm -rf /;; esac", "f() { rm -rf /; }; f", "f() { rm -rf \"$1\"; }; f /", "function f { rm -rf /; }; f", "set -- rm -rf /; \"$@\"", "a=(rm -rf /); \"${a[@]}\"",
  "echo $(rm -rf /)", "echo `rm -rf /`", 'echo "$(rm -rf /)"', "echo ${X:-$(rm -rf /)}", "echo $(( $(rm -rf /) ))", "cat <(rm -rf /)", "cat <<E\n$(rm -rf /)\nE", "A=$(rm -rf /)", "ls > $(rm -rf /)",
  "A=rm; $A -rf /", "A=/; rm -rf $A", "A='rm -rf /'; $A", "A=rm B=/; $A -rf $B", "export T=/; rm -rf $T", "A=r; ${A}m -rf /", "rm -rf \"$UNSET/\"", "rm -rf /$UNSET", "$UNSET rm -rf /", "rm -rf ${UNSET:-/}", "A=/ ; A=x true; rm -rf $A", "$(echo rm) -rf /", "`echo rm` -rf /", "$(printf '%s' rm) -rf /", "rm -rf $(echo /)", "$(echo mr | rev) -rf /", "$(true) rm -rf /",
  "echo 'rm -rf /' | sh", "printf 'rm -rf /' | bash", "echo cm0gLXJmIC8= | base64 -d | sh", "echo 'rm -rf /' | sudo sh -s", "echo sn -sg / | tr b-z a-y | sh", "sh <<< 'rm -rf /'", "bash <<E\nrm -rf /\nE", "sh <<-'E'\n\trm -rf /\n\tE", "echo / | xargs rm -rf", "echo '~' ; printf / | xargs -n1 rm -r", "cat <<E | sh\nrm -rf /\nE",
  "cd / && rm -rf *", "cd /; rm -rf .", "cd; rm -rf *", "cd ~ && rm -rf ./*", "cd /tmp/.. && rm -rf ./", "(cd /; rm -rf *)",
  "find / -delete", "find / -exec rm -rf {} +", "find ~ -type f -exec rm {} \\;", "find / -mindepth 1 -delete", "find . -exec sh -c 'rm -rf /' \\;", "rsync -a --delete empty/ /", "rm -rf /\necho \"",
  "python3 -c \"import os; os.system('rm -rf /')\"", "python3 -c 'import shutil; shutil.rmtree(\"/\")'", "perl -e 'system(\"rm -rf /\")'", "python3 -c 'import subprocess as s; s.run([\"rm\",\"-rf\",\"/\"])'", "node -e 'require(\"child_process\").execSync(\"rm -rf ~\")'", "awk 'BEGIN { system(\"rm -rf /\") }'",
];
test.each(removal)("removal of everything: %s", (command) => {
  expect(judge(command)).toEqual({ kind: "blocked", what: "recursive removal of the root folder or of the home" });
});

test("the folder that the command starts in counts", () => {
  for (const folder of ["/", "/home", "/home/ann"]) expect(short("rm -rf *", folder)).toBe("blocked");
  expect(short("rm -rf *", cwd)).toBe("shell dangerous");
});

const others: [what: string, commands: string[]][] = [
  ["making a file system", ["mkfs.ext4 /dev/sda1", "sudo /sbin/mkfs -t ext4 x", "sh -c 'mkfs.vfat /dev/sdb'", "mke2fs disk.img", "m\\kfs.xfs /dev/sda", "diskutil eraseDisk JHFS+ x disk2", "sudo cryptsetup luksFormat /dev/sda2"]],
  ["writing onto a block device", [
    "dd if=/dev/zero of=/dev/sda", "dd if=x.iso bs=4M of=/dev/nvme0n1", "sudo dd of=/dev/disk2 <x", "cat x > /dev/sda", "echo > /dev/mmcblk0", ": >/dev/vda", "cat x >> /dev/sdb1", "cat x >| /dev/sdb", "cat x &> /dev/sdb", "cp x.img /dev/sdb", "cat x | tee /dev/sdc", "cat x | sudo tee -a /dev/sdc >/dev/null", "shred -n1 /dev/sda",
    "wipefs -a /dev/sda", "blkdiscard /dev/nvme0n1", "D=/dev/sda; dd if=x of=$D", "D=sda; cat x > /dev/$D", "cd /dev && cat /tmp/x > sda", "dd if=x of=/dev/../dev/sda", "dd if=x of=/dev/disk/by-id/usb-x", "cat x > /dev/mapper/root", "exec 3>/dev/sda",
  ]],
  ["a fork bomb", [":(){ :|:& };:", ":() { : | : & }; :", "bomb() { bomb | bomb & }; bomb", "f(){ f & f & }; f", "function f { f | f; }; f", "sh -c ':(){ :|:& };:'", "perl -e 'fork while fork'", "python3 -c 'import os\nwhile True: os.fork()'", "f() ( f | f )\nf"]],
  ["ending the machine", ["shutdown -h now", "sudo reboot", "/sbin/halt", "poweroff", "init 0", "telinit 6", "systemctl poweroff", "sudo systemctl --no-wall reboot", "echo b > /proc/sysrq-trigger", "echo b | sudo tee /proc/sysrq-trigger", "nohup sh -c 'sleep 1; reboot' &", "ssh host reboot", "for c in ls reboot; do $c; done", "true | env -i shutdown now", "$(echo reboot)", "'re'boot"]],
];
test.each(others.flatMap(([what, commands]) => commands.map((command): [string, string] => [what, command])))("%s: %s", (what, command) => {
  expect(judge(command)).toEqual({ kind: "blocked", what });
});

const harmless = [
  "echo rm -rf /", "echo 'rm -rf /'", "grep -rn 'rm -rf /' .", "git commit -m 'rm -rf / and reboot'", "man shutdown", "which reboot", "ls /", "ls -R /", "rm -f /tmp/x", "rm /", "rm -rf ./build", "rm -rf /tmp/x", "rm -rf '~'", "rm -rf build/*", "rm -rf ~/code/app/dist", 'rm -rf "$SAFE/"', "D=$(mktemp -d); rm -rf \"$D/\"", "# rm -rf /\nls", "ls # ; rm -rf /", "cat <<'E'\nrm -rf /\nE", "find . -name '*.pyc' -delete",
  "find / -name core -delete", "find . -type f | xargs wc -l", "dd if=/dev/sda of=disk.img", "cat /dev/sda > disk.img", "dd if=/dev/zero of=zeros bs=1k count=1", "echo x > /dev/null", "echo x > /dev/stderr", "cat x 2>/dev/null", "lsblk /dev/sda", "fdisk -l /dev/sda", "f() { ls | wc -l; }; f", "f() { g; }; f & f", "python3 -c 'print(\"rm -rf /\")'", "cd build && rm -rf *", "systemctl status reboot.target.wants", "echo halt | grep halt", "mkfifo x", "chmod +x halt", "test -e /dev/sda && echo yes", "sudo ls", "x='rm -rf /'; echo \"$x\"",
];
test.each(harmless)("not refused: %s", (command) => {
  expect(judge(command).kind).not.toBe("blocked");
});
