import { execFile, spawnSync } from 'node:child_process'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../src/kernel/json/parse-json.ts'

export const KUBERNETES = '1.34.4'
/** Programs that are not part of Kubernetes and depend on their own version of its libraries. */
const OWN_MODULES: Readonly<Record<string, string>> = {
  kwok: 'sigs.k8s.io/kwok v0.7.0',
  helm: 'helm.sh/helm/v3 v3.19.5',
}
const KUBERNETES_COMMANDS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']

/** Paths of programs by name, null for a program that is not available. */
export interface ClusterPrograms {
  readonly etcd: string | null
  readonly binaries: Readonly<Record<string, string | null>>
}

const run = promisify(execFile)

/**
 * Finds the programs of a cluster and builds missing ones from Go modules. The first build takes about an hour of one core.
 * Later runs use the programs from the cache: PARKWAY_CLUSTER_CACHE, or the directory for temporary files.
 */
export async function buildCluster(): Promise<ClusterPrograms> {
  const cache = process.env['PARKWAY_CLUSTER_CACHE'] ?? join(tmpdir(), 'parkway-cluster')
  const bin = join(cache, 'bin')
  await mkdir(bin, { recursive: true })
  const binaries: Record<string, string | null> = {}
  const find = async (name: string) => ((await exists(join(bin, name))) ? join(bin, name) : null)
  for (const name of [...KUBERNETES_COMMANDS, ...Object.keys(OWN_MODULES)]) binaries[name] = await find(name)
  const missing = Object.keys(binaries).filter((name) => binaries[name] === null)
  const mayBuild = process.env['PARKWAY_CLUSTER_BUILD'] !== 'false' && hasProgram('go')
  if (mayBuild && missing.length > 0) {
    for (const name of missing) await build(name, cache).catch((error: unknown) => tell(name, error))
    for (const name of missing) binaries[name] = await find(name)
  }
  return { etcd: hasProgram('etcd') ? 'etcd' : null, binaries }
}

/** Prints on stderr which tests are skipped. */
export function tellMissing({ etcd, binaries }: ClusterPrograms): void {
  const found = { etcd, ...binaries }
  const missing = Object.entries(found).flatMap(([name, path]) => (path === null ? [name] : []))
  if (missing.length > 0)
    process.stderr.write(`skipped what needs ${missing.join(', ')}: neither installed nor built\n`)
}

function tell(name: string, error: unknown): void {
  process.stderr.write(`${name} could not be built: ${error instanceof Error ? error.message : ''}\n`)
}

function packageOf(name: string): string {
  if (name === 'kwok') return 'sigs.k8s.io/kwok/cmd/kwok'
  return name === 'helm' ? 'helm.sh/helm/v3/cmd/helm' : `k8s.io/kubernetes/cmd/${name}`
}

/** Builds one program in its own module, at the lowest priority and one package at a time. */
async function build(name: string, cache: string): Promise<void> {
  const directory = join(cache, 'build', name)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'go.mod'), await writeModule(name, directory))
  const flags = [
    '-mod=mod',
    '-p=1',
    '-trimpath',
    `-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v${KUBERNETES}`,
  ]
  process.stderr.write(`building ${name}\n`)
  await run('nice', ['-n', '19', 'go', 'build', ...flags, '-o', join(cache, 'bin', name), packageOf(name)], {
    cwd: directory,
    maxBuffer: 64 * 1024 * 1024,
  })
}

const Download = Type.Object({ GoMod: Type.String() })

/** Replaces the repository paths of the Kubernetes modules with the published modules of the same version. */
async function writeModule(name: string, directory: string): Promise<string> {
  const own = OWN_MODULES[name]
  if (own !== undefined) return `module cluster\n\ngo 1.24.0\n\nrequire ${own}\n`
  const { stdout } = await run('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${KUBERNETES}`], {
    cwd: directory,
  })
  const text = await readFile(Value.Parse(Download, parseJson(stdout)).GoMod, 'utf8')
  const staged = new Set(
    [...text.matchAll(/\b(k8s\.io\/[a-z0-9-]+) v0\.0\.0$/gm)].flatMap(([, path]) => path ?? []),
  )
  const version = `v0.${KUBERNETES.slice('1.'.length)}`
  return [
    'module cluster',
    ...(text.match(/^(?:go|godebug) .*$/gm) ?? []),
    `require k8s.io/kubernetes v${KUBERNETES}`,
    ...[...staged].map((path) => `replace ${path} => ${path} ${version}`),
    '',
  ].join('\n')
}

function hasProgram(name: string): boolean {
  return spawnSync('which', [name]).status === 0
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
