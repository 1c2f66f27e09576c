import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { parseLocalSettings } from '../../src/app/settings/parse-local-settings.ts'
import type { GpuDriver, LaunchOrder } from '../../src/gpu/gpu-driver.ts'
import { createLocalDriver } from '../../src/gpu/local/local-driver.ts'
import type { ModelFiles } from '../../src/gpu/model-files.ts'
import { findTree } from '../../src/gpu/local/process-tree.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import { createId } from '../../src/kernel/identifiers.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const ENGINE = join(import.meta.dirname, 'engines/scripted-engine.mjs')

/** Settings of scripted engines. */
export const SCRIPTED = {
  command: [
    process.execPath,
    ENGINE,
    '--model',
    '{model}',
    '--port',
    '{port}',
    ['--max-model-len', '{max_model_len}'],
  ],
  account_variables: ['SANDBOX_FAILURE'],
  stop_grace_ms: 500,
  tiers: { cpu_local: { count: 2 } },
}

export interface LocalStage {
  readonly driver: GpuDriver
  readonly directory: string
  /** Creates the driver of another gateway process on the same directory. */
  createDriver(clock?: Clock): GpuDriver
  /** Deletes all hub tokens, as for deleted deployments. */
  forgetTokens(): void
  order(given?: Partial<LaunchOrder>): LaunchOrder
  /** Waits until every launched instance is ready or has ended. */
  settle(): Promise<void>
  /** Stops all instances and checks that no process is left. */
  close(): Promise<void>
}

const AT_REST = ['ready', 'failed', 'gone']

export async function createLocalStage(
  settings: object = {},
  path?: string,
  files: ModelFiles | null = null,
): Promise<LocalStage> {
  // Private, as the data directory of a careful operator is.
  const dataDirectory = await mkdtemp(join(tmpdir(), 'parkway-engines-'))
  const directory = join(dataDirectory, 'engines')
  const launched = new Set<string>()
  // As in the database: every process can read them.
  const tokens = new Map<string, string | null>()
  const createDriver = (clock: Clock = systemClock): GpuDriver => {
    const driver = createLocalDriver({
      settings: parseLocalSettings(JSON.stringify({ ...SCRIPTED, ...settings })),
      // Relative to the working directory, like the default of the setting.
      directory: relative(process.cwd(), directory),
      dataDirectory,
      inherited: { PATH: path ?? process.env['PATH'] ?? '' },
      clock,
      files,
      readToken: async (instanceId) => tokens.get(instanceId) ?? null,
      mayUseHubToken: async () => false,
      restartMs: 20,
      restartMsMax: 20_000,
    })
    const launch = (order: LaunchOrder) => {
      launched.add(order.instanceId)
      tokens.set(order.instanceId, order.hubToken)
      return driver.launch(order)
    }
    return { ...driver, launch }
  }
  const driver = createDriver()
  const settle = () =>
    eventually(async () => {
      for (const id of launched) expect(AT_REST).toContain((await driver.observe(id)).state)
    })
  return {
    driver,
    directory,
    createDriver,
    forgetTokens: () => tokens.clear(),
    order: (given = {}) => ({
      instanceId: createId(),
      tierId: 'cpu_local',
      huggingfaceId: 'Qwen/Qwen3-8B',
      revision: null,
      quantization: 'auto',
      maxModelLen: null,
      hubToken: null,
      environment: {},
      ...given,
    }),
    settle,
    close: async () => {
      for (const id of launched) await driver.stop(id)
      await eventually(async () => {
        for (const id of launched) expect((await driver.observe(id)).state).toBe('gone')
      })
      for (const id of launched) expect(await findTree(id, null)).toEqual([])
      await removeDirectory(dataDirectory)
    },
  }
}
