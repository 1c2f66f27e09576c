import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type {
  CacheVolume,
  KubernetesSettings,
  KubernetesTierSettings,
} from '../../gpu/kubernetes/kubernetes-settings.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'

const CLOSED = { additionalProperties: false } as const
const DnsLabel = Type.String({ pattern: '^[a-z]([a-z0-9-]{0,50}[a-z0-9])?$' })
const DnsName = Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$' })
const LabelName = Type.String({
  pattern: '^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$',
})
const LabelValue = Type.String({ pattern: '^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$' })
const Labels = Type.Record(LabelName, LabelValue)
const Cidr = Type.String({ pattern: '^[0-9a-f.:]{2,45}/[0-9]{1,3}$' })
const Gigabytes = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })

const Toleration = Type.Object(
  {
    key: Type.Optional(LabelName),
    operator: Type.Optional(Type.Enum(['Exists', 'Equal'])),
    value: Type.Optional(LabelValue),
    effect: Type.Optional(Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
  },
  CLOSED,
)

const Tier = Type.Object(
  {
    gpu_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    gpu_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 64 })),
    memory_gb: Gigabytes,
    price_per_hour_usd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    region: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    count: Type.Integer({ minimum: 1, maximum: 10_000 }),
    gpu_resource: Type.Optional(LabelName),
    cpu: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000 })),
    ram_gb: Type.Optional(Gigabytes),
    node_selector: Type.Optional(Labels),
    tolerations: Type.Optional(Type.Array(Toleration, { maxItems: 20 })),
  },
  CLOSED,
)

const Cache = Type.Union([
  Type.Object({ claim: DnsName }, CLOSED),
  Type.Object({ host_path: Type.String({ pattern: '^/[^\\0]+$' }) }, CLOSED),
  Type.Object({ size_gb: Gigabytes }, CLOSED),
])

const Entry = Type.Object(
  {
    namespace: Type.Optional(DnsLabel),
    gateway_name: Type.Optional(DnsLabel),
    image: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][!-~]{0,500}$' })),
    image_pull_secrets: Type.Optional(Type.Array(DnsName, { maxItems: 20 })),
    runtime_class: Type.Optional(DnsName),
    args: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 200 })),
    environment: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String()),
    ),
    account_variables: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' }))),
    port: Type.Optional(Type.Integer({ minimum: 1024, maximum: 65_535 })),
    endpoint: Type.Optional(Type.String({ pattern: '^https?://[!-~]*\\{name\\}[!-~]*$' })),
    cache: Type.Optional(Cache),
    shared_memory_gb: Type.Optional(Gigabytes),
    user_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
    schedule_timeout_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 })),
    gateway_namespace: Type.Optional(DnsLabel),
    gateway_labels: Type.Optional(Labels),
    ingress_cidrs: Type.Optional(Type.Array(Cidr, { maxItems: 50 })),
    egress_cidrs: Type.Optional(Type.Array(Cidr, { maxItems: 50 })),
    tiers: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9]([a-z0-9_]{0,61}[a-z0-9])?$' }), Tier)),
  },
  CLOSED,
)

const ALLOWED =
  'an object such as {"namespace": "engines", "tiers": {"h100_80gb": {"memory_gb": 80, "count": 4}}}'

/** The image of which the arguments and the user are known to fit. */
const IMAGE = 'vllm/vllm-openai:v0.32.0'
/** The image's own user. */
const USER_ID = 2_000
const PORT = 8_000
const SHARED_MEMORY_GB = 8
const CACHE_GB = 200
const SCHEDULE_TIMEOUT_MS = 300_000

export function parseKubernetesSettings(text: string): KubernetesSettings {
  const entry = readEntry(text)
  return {
    namespace: entry.namespace ?? 'parkway',
    gatewayName: entry.gateway_name ?? 'parkway',
    image: entry.image ?? IMAGE,
    imagePullSecrets: entry.image_pull_secrets ?? [],
    runtimeClass: entry.runtime_class ?? null,
    extraArguments: entry.args ?? [],
    environment: entry.environment ?? {},
    accountVariables: entry.account_variables ?? [],
    port: entry.port ?? PORT,
    endpoint: entry.endpoint ?? 'http://{name}.{namespace}.svc:{port}/v1',
    cache: toCache(entry.cache ?? { size_gb: CACHE_GB }),
    sharedMemoryGb: entry.shared_memory_gb ?? SHARED_MEMORY_GB,
    userId: entry.user_id ?? USER_ID,
    scheduleTimeoutMs: entry.schedule_timeout_ms ?? SCHEDULE_TIMEOUT_MS,
    network: {
      gatewayNamespace: entry.gateway_namespace ?? null,
      gatewayLabels: entry.gateway_labels ?? { 'app.kubernetes.io/name': 'parkway' },
      ingressCidrs: entry.ingress_cidrs ?? [],
      egressCidrs: entry.egress_cidrs ?? [],
    },
    tiers: Object.fromEntries(Object.entries(entry.tiers ?? {}).map(([id, tier]) => [id, toTier(id, tier)])),
  }
}

function readEntry(text: string): Static<typeof Entry> {
  let entry: unknown
  try {
    entry = parseJson(text)
  } catch {
    throw new RangeError('JSON')
  }
  if (!Value.Check(Entry, entry)) throw new RangeError(ALLOWED)
  return entry
}

const GPU_RESOURCE = 'nvidia.com/gpu'
const CPU = 4
const RAM_PER_MEMORY = 1

function toTier(id: string, tier: Static<typeof Tier>): KubernetesTierSettings {
  const { gpu_count: gpuCount = 1, gpu_resource: gpuResource = GPU_RESOURCE } = tier
  return {
    gpuName: tier.gpu_name ?? id,
    gpuCount,
    memoryGb: tier.memory_gb,
    pricePerHourUsd: tier.price_per_hour_usd ?? 0,
    region: tier.region ?? null,
    count: tier.count,
    gpuResource,
    cpu: tier.cpu ?? CPU,
    // Weights pass through main memory on their way to the GPU.
    ramGb: tier.ram_gb ?? tier.memory_gb * RAM_PER_MEMORY,
    nodeSelector: tier.node_selector ?? {},
    // Nodes with GPUs usually keep everything else away.
    tolerations:
      tier.tolerations ??
      (gpuCount === 0 ? [] : [{ key: gpuResource, operator: 'Exists', effect: 'NoSchedule' }]),
  }
}

function toCache(cache: Static<typeof Cache>): CacheVolume {
  if ('claim' in cache) return { kind: 'claim', claimName: cache.claim }
  if ('host_path' in cache) return { kind: 'host', path: cache.host_path }
  return { kind: 'empty', sizeGb: cache.size_gb }
}
