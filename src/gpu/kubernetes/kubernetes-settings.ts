/** The operator's settings for engines in a cluster. */
export interface KubernetesSettings {
  readonly namespace: string
  /** Distinguishes the objects of this gateway from those of other gateways in the same namespace. */
  readonly gatewayName: string
  readonly image: string
  readonly imagePullSecrets: readonly string[]
  readonly runtimeClass: string | null
  /** Arguments of every engine, after those that the driver writes. */
  readonly extraArguments: readonly string[]
  /** Variables of every engine. */
  readonly environment: Readonly<Record<string, string>>
  /** Names of variables that an account may set for its engine. */
  readonly accountVariables: readonly string[]
  readonly port: number
  /** Address of an engine, with `{name}`, `{namespace}` and `{port}`. */
  readonly endpoint: string
  readonly cache: CacheVolume
  /** Shared memory of an engine. */
  readonly sharedMemoryGb: number
  /** The user and group that engines run as. */
  readonly userId: number
  /** How long a pod may wait for a node. */
  readonly scheduleTimeoutMs: number
  readonly network: NetworkSettings
  readonly tiers: Readonly<Record<string, KubernetesTierSettings>>
}

/** The volume for model files. */
export type CacheVolume =
  | { readonly kind: 'claim'; readonly claimName: string }
  | { readonly kind: 'host'; readonly path: string }
  | { readonly kind: 'empty'; readonly sizeGb: number }

/** Network policy: which clients may call engines, and which addresses engines may call. */
interface NetworkSettings {
  /** The namespace of the gateway. If null, that of the engines. */
  readonly gatewayNamespace: string | null
  readonly gatewayLabels: Readonly<Record<string, string>>
  /** Addresses outside the cluster's pods that may call engines. */
  readonly ingressCidrs: readonly string[]
  /** Private addresses that engines may call, such as a mirror of the hub. */
  readonly egressCidrs: readonly string[]
}

export interface KubernetesTierSettings {
  readonly gpuName: string
  readonly gpuCount: number
  /** Memory of all GPUs of an instance together. */
  readonly memoryGb: number
  readonly pricePerHourUsd: number
  readonly region: string | null
  /** Maximum number of concurrent instances. */
  readonly count: number
  readonly gpuResource: string
  readonly cpu: number
  /** Main memory of an instance. */
  readonly ramGb: number
  readonly nodeSelector: Readonly<Record<string, string>>
  readonly tolerations: readonly Toleration[]
}

interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}
