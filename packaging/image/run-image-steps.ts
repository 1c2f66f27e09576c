import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildStages, type BuiltImage } from './build-stages.ts'
import { findUnwanted, measure } from './check-files.ts'
import { describeImage, readSource } from './describe-image.ts'
import { digestLayer, type PackedLayer } from './pack-layer.ts'
import { readDockerfile } from './read-dockerfile.ts'
import { findObstacle } from './root-directories.ts'
import { tryProgram } from './try-program.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Runs the steps of the Dockerfile without an engine, each in a root directory of its own, starts what they make as a container would,
 * and writes its bill of materials and its provenance. With `--twice` everything is made again, and must be the same.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { twice: { type: 'boolean' }, out: { type: 'string' } } })
  const obstacle = findObstacle()
  if (obstacle !== null) {
    say(`skipped: ${obstacle}`)
    return
  }
  const cache = process.env['PARKWAY_IMAGE_CACHE'] ?? join(tmpdir(), 'parkway-image')
  mkdirSync(cache, { recursive: true })
  const source = readSource()
  const work = mkdtempSync(join(cache, 'build-'))
  try {
    const { image, layer } = await build(join(work, 'first'), cache, source.timeSeconds)
    report(image, layer)
    const problems = findUnwanted(image, readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const trial = await tryProgram(image, join(work, 'trial'))
    say(`started in ${trial.startMs} ms as user ${image.settings.user} with a read-only root`)
    say(`the sandbox answered: ${trial.answer.slice(0, 60)}`)
    say(`stopped by SIGTERM in ${trial.stopMs} ms`)
    if (values.twice === true) {
      const again = await build(join(work, 'second'), cache, source.timeSeconds)
      if (again.layer.sha256 === layer.sha256) say('built twice: the same layer')
      else problems.push(`built again, the layer is ${again.layer.sha256}`)
    }
    if (values.out !== undefined) writeDocuments(values.out, layer.sha256)
    for (const problem of problems) say(`PROBLEM  ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function build(
  work: string,
  cache: string,
  timeSeconds: number,
): Promise<{ image: BuiltImage; layer: PackedLayer }> {
  mkdirSync(work, { recursive: true })
  const stages = readDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
  const image = buildStages(stages, { context: ROOT, cache, work }, (step) => say(`  ${step.slice(0, 120)}`))
  return { image, layer: await digestLayer(image.ownLayer, timeSeconds) }
}

function report(image: BuiltImage, { sha256, files, bytes }: PackedLayer): void {
  const { imageMegabytes, packagesMegabytes } = measure(image)
  say(`image ${imageMegabytes} MB, of which packages ${packagesMegabytes} MB`)
  say(`own layer sha256:${sha256}, ${files} files, ${Math.round(bytes / 1e5) / 10} MB`)
}

function writeDocuments(directory: string, layerSha256: string): void {
  mkdirSync(directory, { recursive: true })
  const { bill, provenance } = describeImage(readSource(), layerSha256)
  writeFileSync(join(directory, 'parkway-sbom.cdx.json'), bill)
  writeFileSync(join(directory, 'parkway-provenance.json'), provenance)
  say(`wrote parkway-sbom.cdx.json and parkway-provenance.json to ${directory}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
