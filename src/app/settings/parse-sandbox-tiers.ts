import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { SANDBOX_TIERS, type SandboxTier } from '../../gpu/sandbox/sandbox-tiers.ts'
import { nanoUsdFromUsd } from '../../kernel/money.ts'

const Tier = Type.Object(
  {
    gpu_name: Type.String({ minLength: 1, maxLength: 100 }),
    vram_gb: Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }),
    price_per_hour_usd: Type.Number({ minimum: 0, maximum: 1_000_000 }),
    gpu_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    region: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
)
const Tiers = Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_]{0,63}$' }), Tier)

const ALLOWED =
  'an object such as {"l4_24gb": {"gpu_name": "NVIDIA L4", "vram_gb": 24, "price_per_hour_usd": 0.8, "count": 8}}'

/** Parses the simulated tiers. Returns the default tiers if the setting has none. */
export function parseSandboxTiers(text: string): readonly SandboxTier[] {
  const tiers = parseTiers(text)
  if (Object.keys(tiers).length === 0) return SANDBOX_TIERS
  return Object.entries(tiers).map(([id, tier]) => ({
    id,
    gpuName: tier.gpu_name,
    gpuCount: tier.gpu_count ?? 1,
    vramGb: tier.vram_gb,
    pricePerHourNanoUsd: nanoUsdFromUsd(tier.price_per_hour_usd),
    region: tier.region ?? null,
    machineCount: tier.count ?? 1,
  }))
}

function parseTiers(text: string) {
  try {
    const tiers: unknown = JSON.parse(text)
    if (Value.Check(Tiers, tiers)) return tiers
  } catch {
    // Invalid JSON gets the same error as any other invalid value.
  }
  throw new RangeError(ALLOWED)
}
