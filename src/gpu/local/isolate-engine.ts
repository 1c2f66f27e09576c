import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isReachableBy, type SystemUser } from '../../kernel/system-user.ts'
import { LLAMA_ENGINE } from './engine-command.ts'
import { findSandbox, listSandboxPaths, writeSandboxCommand, type FoundSandbox } from './engine-sandbox.ts'
import { chooseEngineUser, findUnreadable, letPass, openWay, shareModel } from './engine-user.ts'
import { listCommandFiles } from './find-program.ts'
import { workPathOf, type InstanceDirectory } from './instance-directory.ts'
import type { LocalSettings } from './local-settings.ts'

export interface IsolationOptions {
  readonly settings: LocalSettings
  /** The gateway's own directory, which engines must not read. */
  readonly dataDirectory: string
  /** Variables that engines inherit from the gateway. Their `PATH` is used to find programs. */
  readonly inherited: Readonly<Record<string, string>>
}

/** How an engine is kept apart from the gateway. */
interface Isolation {
  /** The user of the engine. Null for the gateway's user. */
  readonly user: SystemUser | null
  readonly sandbox: FoundSandbox
  /** Why the engine has less isolation than the machine could give. */
  readonly problems: readonly string[]
  /** Whether the settings ask for more than there is, so that the engine must not start. */
  readonly isTooWeak: boolean
}

/** Chooses the isolation of a command with these files, whose user has to reach `path`. */
async function chooseIsolation(
  { settings, inherited }: IsolationOptions,
  files: readonly string[],
  path: string,
): Promise<Isolation> {
  const chosen = await chooseEngineUser(settings.user)
  const barrier = chosen.user === null ? null : await findBarrier(chosen.user, files, path)
  const user = barrier === null ? chosen.user : null
  const problem = barrier ?? chosen.problem
  const sandbox =
    settings.sandbox === 'off' ? SWITCHED_OFF : await findSandboxOnce(inherited['PATH'] ?? '', user)
  const lacksUser = problem !== null && settings.user !== null
  const lacksSandbox = settings.sandbox === 'required' && sandbox.program === null
  return {
    user,
    sandbox,
    problems: [
      ...(problem === null ? [] : [`engines run as root, because ${problem}`]),
      ...(lacksSandbox ? [`engines have no sandbox, because ${sandbox.problem}`] : []),
    ],
    isTooWeak: lacksUser || lacksSandbox,
  }
}

const SWITCHED_OFF: FoundSandbox = { program: null, problem: 'the settings switch it off' }

async function findBarrier(user: SystemUser, files: readonly string[], path: string): Promise<string | null> {
  const unreadable = (await isReachableBy(path, user)) ? await findUnreadable(files, user) : path
  return unreadable === null ? null : `the user ${user.uid} cannot read ${unreadable}`
}

const sandboxes = new Map<string, Promise<FoundSandbox>>()

/** The probe starts a process, and its result does not change while the gateway runs. */
function findSandboxOnce(searchPath: string, user: SystemUser | null): Promise<FoundSandbox> {
  const key = `${user?.uid ?? ''}:${user?.gid ?? ''}:${searchPath}`
  const found = sandboxes.get(key) ?? findSandbox(searchPath, user)
  sandboxes.set(key, found)
  return found
}

/** Returns which isolation engines get here, for the operator, before the first one starts. */
export async function describeIsolation(options: IsolationOptions): Promise<{
  readonly text: string
  readonly problems: readonly string[]
}> {
  const { settings, inherited, dataDirectory } = options
  const command = settings.command.length === 0 ? [process.execPath, LLAMA_ENGINE] : settings.command.flat()
  const files = await listCommandFiles(command, inherited['PATH'] ?? '')
  // The data directory itself is opened to the user when an engine starts.
  const { user, sandbox, problems } = await chooseIsolation(options, files, dirname(dataDirectory))
  const whose = user === null ? "the gateway's user" : `the user ${user.uid}`
  const where =
    sandbox.program === null ? `without a sandbox (${sandbox.problem})` : 'in a sandbox of bubblewrap'
  return { text: `engines run as ${whose}, ${where}`, problems }
}

interface IsolatedEngine extends Isolation {
  readonly argv: readonly string[]
  /** Variables that the engine inherits. */
  readonly inherited: Readonly<Record<string, string>>
}

interface EngineToIsolate {
  readonly instanceId: string
  readonly argv: readonly string[]
  /** Directory of the model files, or null. */
  readonly modelDirectory: string | null
}

/** Gives an engine its user and its sandbox, and that user the right to reach its own files. */
export async function isolateEngine(
  directory: InstanceDirectory,
  { instanceId, argv, modelDirectory }: EngineToIsolate,
  options: IsolationOptions,
): Promise<IsolatedEngine> {
  const { settings, inherited, dataDirectory } = options
  const path = directory.pathOf(instanceId)
  const { user: wanted } = await chooseEngineUser(settings.user)
  if (wanted !== null) {
    await openWay(dataDirectory, wanted)
    await letPass(directory.pathsTo(instanceId), wanted)
    if (settings.modelsDirectory === null && modelDirectory !== null) await shareModel(modelDirectory, wanted)
  }
  const commandFiles = await listCommandFiles(argv, inherited['PATH'] ?? '')
  const isolation = await chooseIsolation(options, commandFiles, path)
  const { program } = isolation.sandbox
  if (program === null && isolation.user === null) return { ...isolation, argv, inherited }
  const work = workPathOf(await realpath(path))
  const { TMPDIR: _own, ...others } = inherited
  const isolated = { ...isolation, inherited: { ...others, HOME: work } }
  if (program === null) return { ...isolated, argv }
  const paths = await listSandboxPaths({
    work,
    privatePaths: [dataDirectory, ...directory.pathsTo(instanceId).slice(0, 1)],
    home: inherited['HOME'] ?? null,
    commandFiles,
    readable: [...(modelDirectory === null ? [] : [modelDirectory]), ...settings.readablePaths],
    writable: settings.writablePaths,
  })
  return { ...isolated, argv: writeSandboxCommand(program, paths, argv) }
}
