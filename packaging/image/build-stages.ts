import { cpSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { listContext } from './list-context.ts'
import { readVariables, readWords, type Instruction, type Stage } from './read-dockerfile.ts'
import { findInLayers, prepareBase, runStep, settingsOfNpm, type RootDirectory } from './root-directories.ts'

/** What the last stage of a Dockerfile makes. */
export interface BuiltImage extends RootDirectory {
  /** Everything that the last stage added to its base. */
  readonly ownLayer: string
  readonly settings: Settings
}

interface Settings {
  directory: string
  user: string
  environment: Record<string, string>
  volumes: string[]
  entrypoint: string[]
  command: string[]
}

interface Places {
  /** The checkout. */
  readonly context: string
  /** Bases are kept here for the next time. */
  readonly cache: string
  /** Layers are made here. */
  readonly work: string
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs the steps of all stages one by one. */
export function buildStages(
  stages: readonly Stage[],
  places: Places,
  report: (step: string) => void,
): BuiltImage {
  const built = new Map<string, RootDirectory>()
  const files = listContext(places.context)
  let last: BuiltImage | null = null
  for (const [index, stage] of stages.entries()) {
    const base = built.get(stage.from) ?? prepareBase(stage.from, places.cache)
    const ownLayer = join(places.work, `layer-${index}`)
    rmSync(ownLayer, { recursive: true, force: true })
    mkdirSync(ownLayer, { recursive: true })
    const image: BuiltImage = {
      layers: [...base.layers, ownLayer],
      ownLayer,
      settings: {
        directory: '/',
        user: '0',
        environment: { PATH },
        volumes: [],
        entrypoint: [],
        command: [],
      },
    }
    for (const instruction of stage.instructions) {
      report(`${stage.name ?? 'image'}: ${instruction.name} ${instruction.text.replace(/\s+/g, ' ')}`)
      perform(instruction, image, { ...places, files, built })
    }
    if (stage.name !== null) built.set(stage.name, image)
    last = image
  }
  if (last === null) throw new Error('the Dockerfile has no stage')
  return last
}

interface Surroundings extends Places {
  readonly files: readonly string[]
  readonly built: ReadonlyMap<string, RootDirectory>
}

function perform(instruction: Instruction, image: BuiltImage, around: Surroundings): void {
  const { settings, ownLayer } = image
  const { name, text } = instruction
  if (name === 'WORKDIR') {
    settings.directory = posix.resolve(settings.directory, text)
    mkdirSync(join(ownLayer, settings.directory), { recursive: true })
  } else if (name === 'COPY') copy(instruction, image, around)
  else if (name === 'RUN')
    runStep(
      image,
      {
        words: ['sh', '-c', text],
        directory: settings.directory,
        environment: { ...settings.environment, ...settingsOfNpm() },
      },
      around,
    )
  else if (name === 'USER') settings.user = text
  else if (name === 'ENV') Object.assign(settings.environment, Object.fromEntries(readVariables(instruction)))
  else if (name === 'VOLUME') settings.volumes.push(text)
  else if (name === 'ENTRYPOINT') settings.entrypoint = readWords(instruction)
  else if (name === 'CMD') settings.command = readWords(instruction)
}

/** Files of the context, or of an earlier stage. A folder is copied as what is in it. */
function copy({ text, line }: Instruction, image: BuiltImage, { context, files, built }: Surroundings): void {
  const words = text.split(/\s+/)
  const stageName = words[0]?.startsWith('--from=') === true ? words.shift()?.slice('--from='.length) : null
  const target = words.pop() ?? ''
  const { directory } = image.settings
  const to = join(image.ownLayer, posix.resolve(directory, target))
  const isFolder = target.endsWith('/') || words.length > 1
  for (const source of words) {
    if (stageName !== null && stageName !== undefined) {
      const stage = built.get(stageName)
      const found = stage === undefined ? null : findInLayers(stage, source)
      if (found === null) throw new Error(`line ${line}: ${stageName} has no ${source}`)
      const place = statSync(found).isDirectory() || !isFolder ? to : join(to, basename(source))
      mkdirSync(dirname(place), { recursive: true })
      cpSync(found, place, { recursive: true, verbatimSymlinks: true })
      continue
    }
    const copied = files.filter((file) => file === source || file.startsWith(`${source}/`))
    if (copied.length === 0) throw new Error(`line ${line}: the context has no ${source}`)
    for (const file of copied) {
      const inside = file === source ? (isFolder ? basename(file) : '') : file.slice(source.length + 1)
      cpSync(join(context, file), join(to, inside), { recursive: true })
    }
  }
}
