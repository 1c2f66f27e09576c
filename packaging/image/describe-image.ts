import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Who made an image of what, as documents that are the same for the same source. */
export interface ImageDocuments {
  /** CycloneDX: the packages that run, from the lockfile. */
  readonly bill: string
  /** In-toto with SLSA's predicate. Not signed: whoever publishes the image signs it. */
  readonly provenance: string
}

export interface Source {
  readonly commit: string
  /** Of the commit. */
  readonly timeSeconds: number
}

const ROOT = join(import.meta.dirname, '../..')
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2
/** What the layer is made from beside its packages. */
const READ = ['Dockerfile', '.dockerignore', 'package.json', 'package-lock.json', '.npmrc']

export function readSource(): Source {
  const [commit = '', time = ''] = String(
    execFileSync('git', ['log', '-1', '--format=%H %ct'], { cwd: ROOT }),
  )
    .trim()
    .split(' ')
  return { commit, timeSeconds: Number(process.env['SOURCE_DATE_EPOCH'] ?? time) }
}

export function describeImage(source: Source, layerSha256: string): ImageDocuments {
  const bill = writeBill(source)
  return { bill, provenance: writeProvenance(source, { layerSha256, bill }) }
}

/** npm writes the moment and a random number into its document. Both follow from the source here. */
function writeBill({ timeSeconds }: Source): string {
  const words = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx']
  const written = execFileSync('npm', words, { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX })
  const document = JSON.parse(String(written)) as Bill
  document.components.sort((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1))
  for (const component of document.components) delete component['externalReferences']
  const content = {
    ...document,
    serialNumber: undefined,
    metadata: { ...document.metadata, timestamp: undefined },
  }
  const digest = sha256(JSON.stringify(content))
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ]
  return toText({
    ...document,
    serialNumber: `urn:uuid:${parts.join('-')}-${digest.slice(20, 32)}`,
    metadata: { ...document.metadata, timestamp: new Date(timeSeconds * 1000).toISOString() },
  })
}

interface Bill {
  readonly components: (Record<string, unknown> & { readonly 'bom-ref': string })[]
  readonly metadata: Record<string, unknown>
}

function writeProvenance(
  { commit, timeSeconds }: Source,
  { layerSha256, bill }: { readonly layerSha256: string; readonly bill: string },
): string {
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
  const packages = Object.entries(lockfile.packages)
    .filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true)
    .flatMap(([path, { name, version, integrity }]) => {
      const sha512 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1]
      const purl = `pkg:npm/${(name ?? path.replace(/^.*node_modules\//, '')).replace('@', '%40')}@${version}`
      return sha512 === undefined
        ? []
        : [{ uri: purl, digest: { sha512: Buffer.from(sha512, 'base64').toString('hex') } }]
    })
  return toText({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'parkway-layer.tar', digest: { sha256: layerSha256 } },
      { name: 'parkway-sbom.cdx.json', digest: { sha256: sha256(bill) } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://mobyproject.org/buildkit@v1',
        externalParameters: { dockerfile: 'Dockerfile' },
        internalParameters: { sourceDateEpoch: timeSeconds },
        resolvedDependencies: [
          { uri: 'git+.', digest: { gitCommit: commit } },
          ...READ.map((name) => ({ uri: name, digest: { sha256: sha256(readFileSync(join(ROOT, name))) } })),
          ...packages,
        ],
      },
      runDetails: { builder: { id: 'packaging/image/run-image-steps.ts' } },
    },
  })
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { name?: string; version?: string; integrity?: string; dev?: boolean; link?: boolean }>
  >
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function toText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
