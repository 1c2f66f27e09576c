import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The files of an image in layers: the last one hides those before. */
export interface RootDirectory {
  readonly layers: readonly string[]
}

const DEBOOTSTRAP_MS_MAX = 1_200_000
const COMMAND_MS_MAX = 1_800_000
/** What the slim images of Debian do not have. */
const NOT_IN_SLIM = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/info',
  'usr/share/locale',
  'usr/share/lintian',
  'var/lib/apt/lists',
  'var/cache',
  'var/log',
]

/** Returns why root directories cannot be made here, or null. */
export function findObstacle(): string | null {
  if (process.platform !== 'linux') return 'this is not Linux'
  if (process.getuid?.() !== 0) return 'it needs root, for chroot and mounts'
  for (const program of ['unshare', 'chroot', 'debootstrap', 'npm'])
    try {
      execFileSync('which', [program], { stdio: 'ignore' })
    } catch {
      return `${program} is not installed`
    }
  return null
}

/** Makes what stands for the official images: Debian by debootstrap from the mirror of this machine's apt, and this Node with npm. */
export function prepareBase(image: string, cache: string): RootDirectory {
  const [, node, suite = ''] = /^(?:(node):\d+-|debian:)(\w+)-slim$/.exec(image) ?? []
  if (suite === '') throw new Error(`${image} cannot be made here`)
  const debian = join(cache, `debian-${suite}`)
  if (!existsSync(debian)) {
    const draft = `${debian}.draft`
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(draft, { recursive: true })
    execFileSync('debootstrap', ['--variant=minbase', suite, draft, findMirror()], {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: DEBOOTSTRAP_MS_MAX,
    })
    renameSync(draft, debian)
  }
  for (const folder of NOT_IN_SLIM) rmSync(join(debian, folder), { recursive: true, force: true })
  return { layers: node === undefined ? [debian] : [debian, makeNodeLayer(cache)] }
}

function findMirror(): string {
  const format = ['--format', '$(SITE)', 'Created-By: Packages']
  const [mirror] = String(execFileSync('apt-get', ['indextargets', ...format])).split('\n')
  if (mirror === undefined || mirror === '') throw new Error('apt has no mirror')
  return mirror
}

function makeNodeLayer(cache: string): string {
  const layer = join(cache, `node-${process.version}`)
  if (existsSync(layer)) return layer
  const draft = `${layer}.draft`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(join(draft, 'usr/local/bin'), { recursive: true })
  cpSync(process.execPath, join(draft, 'usr/local/bin/node'), { dereference: true })
  const npm = dirname(dirname(String(execFileSync('readlink', ['-f', findNpm()])).trim()))
  cpSync(npm, join(draft, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(draft, 'usr/local/bin', name))
  renameSync(draft, layer)
  return layer
}

function findNpm(): string {
  return String(execFileSync('which', ['npm'])).trim()
}

interface Command {
  readonly words: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

/** Runs a build step as root: its changes are written to the last layer. It has the network and the name servers of this machine. */
export function runStep(
  { layers }: RootDirectory,
  command: Command,
  { work, cache }: { readonly work: string; readonly cache: string },
): void {
  const upper = layers.at(-1) ?? ''
  const lower = layers.slice(0, -1).toReversed().join(':')
  for (const folder of ['work', 'root']) mkdirSync(join(work, folder), { recursive: true })
  const root = join(work, 'root')
  const packages = join(cache, 'npm')
  mkdirSync(packages, { recursive: true })
  const script = [
    `mount -t overlay overlay -o lowerdir=${lower},upperdir=${upper},workdir=${join(work, 'work')} ${root}`,
    // Over what is there, so that nothing of this machine gets into the layer.
    `if [ -e ${root}/etc/resolv.conf ]; then mount --bind /etc/resolv.conf ${root}/etc/resolv.conf; fi`,
    `mount -t tmpfs tmpfs ${root}/tmp && mount -t tmpfs tmpfs ${root}/root && mount -t tmpfs tmpfs ${root}/run`,
    // What npm has read once is not read again.
    `mkdir ${root}/run/npm && mount --bind ${packages} ${root}/run/npm`,
    ...mountDevices(root),
    ...passAuthorities(root),
    enter(root, command, []),
  ]
  execFileSync('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', script.join('\n')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: COMMAND_MS_MAX,
  })
}

/** Starts a program as the user of an image, with everything read-only but `/tmp` and its volumes, and without any capability. */
export function startProgram(
  { layers }: RootDirectory,
  { user, volumes, work, ...command }: Command & { user: string; volumes: readonly string[]; work: string },
): ChildProcess {
  const root = join(work, 'root')
  mkdirSync(root, { recursive: true })
  const own = `uid=${user},gid=${user},mode=0700`
  const script = [
    `mount -t overlay overlay -o ro,lowerdir=${layers.toReversed().join(':')} ${root}`,
    `mount -t tmpfs tmpfs -o mode=1777 ${root}/tmp`,
    ...volumes.map((volume) => `mount -t tmpfs tmpfs -o ${own} ${root}${volume}`),
    ...mountDevices(root),
    enter(root, command, [
      'setpriv',
      `--reuid=${user}`,
      `--regid=${user}`,
      '--clear-groups',
      '--no-new-privs',
      '--bounding-set=-all',
      '--inh-caps=-all',
    ]),
  ]
  return spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', script.join('\n')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function mountDevices(root: string): string[] {
  return [`mount -t proc proc ${root}/proc`, `mount --rbind /dev ${root}/dev`]
}

/** The authorities that npm of this machine trusts, where a proxy of a company reads its requests. */
function passAuthorities(root: string): string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS']
  return file === undefined || !existsSync(file) ? [] : [`cp ${quote(file)} ${root}/run/authorities.pem`]
}

/** Where npm of this machine finds packages, without writing it into the image. */
export function settingsOfNpm(): Record<string, string> {
  const registry = String(execFileSync('npm', ['config', 'get', 'registry'])).trim()
  return {
    npm_config_registry: registry,
    NODE_EXTRA_CA_CERTS: '/run/authorities.pem',
    npm_config_cache: '/run/npm',
    HOME: '/root',
  }
}

function enter(root: string, { words, directory, environment }: Command, before: readonly string[]): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const inside = ['env', '-i', ...variables, 'sh', '-c', 'cd "$0" && exec "$@"', directory, ...words]
  return ['exec', 'chroot', root, ...before, ...inside].map(quote).join(' ')
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Returns the file of a layer that is seen at a path, or null. */
export function findInLayers({ layers }: RootDirectory, path: string): string | null {
  return layers.map((layer) => join(layer, path)).findLast((file) => existsSync(file)) ?? null
}
