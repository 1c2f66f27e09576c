import { resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { PLACEHOLDERS, placeholdersOf } from '../../gpu/local/engine-command.ts'
import type { LocalSettings, LocalTierSettings } from '../../gpu/local/local-settings.ts'

const Command = Type.Array(
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })]),
  { maxItems: 200 },
)
const Port = Type.Integer({ minimum: 1024, maximum: 65_535 })
const Gigabytes = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })

const Tier = Type.Object(
  {
    price_per_hour_usd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    gpu_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 64 })),
    gpus: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 1_000 }), { minItems: 1 })),
    shared_by: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    memory_gb: Type.Optional(Gigabytes),
    ram_gb: Type.Optional(Gigabytes),
    command: Type.Optional(Command),
  },
  { additionalProperties: false },
)

const Paths = Type.Array(Type.String({ pattern: '^/' }), { maxItems: 100 })

const Entry = Type.Object(
  {
    user: Type.Optional(Type.String({ pattern: '^[a-z_][a-z0-9_-]{0,31}$' })),
    sandbox: Type.Optional(Type.Enum(['auto', 'required', 'off'])),
    readable_paths: Type.Optional(Paths),
    writable_paths: Type.Optional(Paths),
    command: Type.Optional(Command),
    environment: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String()),
    ),
    account_variables: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' }))),
    models_dir: Type.Optional(Type.String({ minLength: 1 })),
    health_path: Type.Optional(Type.String({ pattern: '^/[!-~]*$' })),
    warm_up: Type.Optional(Type.Boolean()),
    hang_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000 })),
    llama_cpp: Type.Optional(
      Type.Object(
        {
          parallel: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
          threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_024 })),
        },
        { additionalProperties: false },
      ),
    ),
    ports: Type.Optional(Type.Tuple([Port, Port])),
    stop_grace_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
    tiers: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_]{0,63}$' }), Tier)),
  },
  { additionalProperties: false },
)

const ALLOWED = 'an object such as {"command": ["vllm", "serve", "{model}", "--port", "{port}"]}'

/** Below the ports that the system gives to outgoing connections. */
const PORTS: LocalSettings['ports'] = [21_000, 21_999]
const STOP_GRACE_MS = 10_000
const HANG_MS = 60_000
const PARALLEL = 4

export function parseLocalSettings(text: string): LocalSettings {
  const entry = parseJson(text)
  if (!Value.Check(Entry, entry)) throw new RangeError(ALLOWED)
  const { command = [], tiers, ports = PORTS } = entry
  for (const one of [command, ...Object.values(tiers ?? {}).map((tier) => tier.command ?? [])])
    checkCommand(one)
  if (ports[0] > ports[1]) throw new RangeError('an object whose ports are [first, last]')
  return {
    user: entry.user ?? null,
    sandbox: entry.sandbox ?? 'auto',
    readablePaths: entry.readable_paths ?? [],
    writablePaths: entry.writable_paths ?? pathOfHub(entry.environment ?? {}),
    command,
    environment: entry.environment ?? {},
    accountVariables: entry.account_variables ?? [],
    modelsDirectory: entry.models_dir === undefined ? null : resolve(entry.models_dir),
    healthPath: entry.health_path ?? '/health',
    warmsUp: entry.warm_up ?? true,
    hangMs: entry.hang_ms ?? HANG_MS,
    llamaCpp: {
      parallel: entry.llama_cpp?.parallel ?? PARALLEL,
      threads: entry.llama_cpp?.threads ?? null,
    },
    ports,
    stopGraceMs: entry.stop_grace_ms ?? STOP_GRACE_MS,
    tiers:
      tiers === undefined
        ? null
        : Object.fromEntries(Object.entries(tiers).map(([id, tier]) => [id, toTier(tier)])),
  }
}

/** The cache of an engine that downloads models itself. */
function pathOfHub({ HF_HOME: path }: Readonly<Record<string, string>>): string[] {
  return path?.startsWith('/') === true ? [path] : []
}

function toTier(tier: Static<typeof Tier>): LocalTierSettings {
  return {
    pricePerHourUsd: tier.price_per_hour_usd ?? 0,
    count: tier.count ?? 1,
    gpuCount: tier.gpu_count ?? 0,
    gpus: tier.gpus ?? null,
    sharedBy: tier.shared_by ?? 1,
    memoryGb: tier.memory_gb ?? null,
    ramGb: tier.ram_gb ?? null,
    command: tier.command ?? null,
  }
}

function checkCommand(command: Static<typeof Command>): void {
  const known: readonly string[] = PLACEHOLDERS
  const unknown = command
    .flat()
    .flatMap(placeholdersOf)
    .find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new RangeError(`a command whose placeholders are ${known.join(', ')}, not ${unknown}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError('JSON')
  }
}
