import { isUuid } from '../../kernel/identifiers.ts'
import { parseKubernetesSettings } from './parse-kubernetes-settings.ts'
import { parseLocalSettings } from './parse-local-settings.ts'
import { parseSandboxTiers } from './parse-sandbox-tiers.ts'
import {
  choicesSetting,
  integerSetting,
  listSetting,
  objectSetting,
  optionalTextSetting,
  urlSetting,
} from './setting.ts'

/** Settings for deployments of models on GPUs. */
export const GPU_SETTINGS = {
  gpuDriver: choicesSetting(
    {
      environment: 'PARKWAY_GPU_DRIVER',
      description:
        'Where deployments run: `local` on this machine, `kubernetes` in a cluster, `sandbox` simulates GPUs for the keys that may use the sandbox, `none` offers nothing. Of several, the first that has a tier runs it.',
    },
    ['sandbox', 'local', 'kubernetes'],
    'sandbox',
  ),
  localGpu: objectSetting(
    {
      environment: 'PARKWAY_LOCAL_GPU',
      description:
        'The command, tiers and limits of engines on this machine: see [deployments](deployments.md#local).',
    },
    'a JSON object as in docs/deployments.md',
    parseLocalSettings,
  ),
  kubernetesGpu: objectSetting(
    {
      environment: 'PARKWAY_KUBERNETES_GPU',
      description:
        'The namespace, image, tiers and volumes of engines in a cluster: see [deployments](deployments.md#a-gpu-cluster).',
    },
    'a JSON object as in docs/deployments.md',
    parseKubernetesSettings,
  ),
  kubeconfig: optionalTextSetting({
    environment: 'KUBECONFIG',
    description:
      'File with the address and credentials of the cluster. Without it the gateway uses the service account of its pod.',
  }),
  gpuSliceSeconds: integerSetting(
    {
      environment: 'PARKWAY_GPU_SLICE_SECONDS',
      description: 'How often GPU time is charged, and how much of it is held ahead.',
    },
    { default: 120, minimum: 1, maximum: 3_600 },
  ),
  gpuStartTimeoutMs: integerSetting(
    {
      environment: 'PARKWAY_GPU_START_TIMEOUT_MS',
      description: 'How long a deployment may take to become ready.',
    },
    { default: 1_800_000, minimum: 1_000, maximum: 86_400_000 },
  ),
  gpuDrainMs: integerSetting(
    {
      environment: 'PARKWAY_GPU_DRAIN_MS',
      description: 'How long requests in flight may take to end when a deployment stops.',
    },
    { default: 30_000, minimum: 0, maximum: 600_000 },
  ),
  gpuWakeMs: integerSetting(
    {
      environment: 'PARKWAY_GPU_WAKE_MS',
      description: 'How long a request waits for a deployment that is not ready yet.',
    },
    { default: 30_000, minimum: 0, maximum: 600_000 },
  ),
  hfEndpoint: urlSetting(
    {
      environment: 'HF_ENDPOINT',
      description: 'The hub that models are read from; the public one without it.',
    },
    ['http:', 'https:'],
  ),
  hfToken: optionalTextSetting({
    environment: 'HF_TOKEN',
    description:
      'The token that the hub is asked with where a request of the accounts in `PARKWAY_HF_TOKEN_ACCOUNTS` brings none of its own.',
    isSecret: true,
  }),
  hfTokenAccounts: listSetting(
    {
      environment: 'PARKWAY_HF_TOKEN_ACCOUNTS',
      description:
        'The accounts that `HF_TOKEN` serves, `*` for all. Without it, those that have a key with the scope `admin`.',
    },
    { allowed: 'ids of accounts or *', isAllowed: (text) => text === '*' || isUuid(text) },
  ),
  modelCacheDir: optionalTextSetting({
    environment: 'PARKWAY_MODEL_CACHE_DIR',
    description: 'Where models of the hub are kept; `models` in the data directory without it.',
  }),
  modelCacheGb: integerSetting(
    {
      environment: 'PARKWAY_MODEL_CACHE_GB',
      description:
        'How much the models there may take. Those that no deployment uses are deleted to make room for others.',
    },
    { default: 200, minimum: 1, maximum: 1_000_000 },
  ),
  modelCacheFreeGb: integerSetting(
    {
      environment: 'PARKWAY_MODEL_CACHE_FREE_GB',
      description: 'How much of the disk a download of a model leaves free.',
    },
    { default: 5, minimum: 0, maximum: 1_000_000 },
  ),
  sandboxGpuTiers: objectSetting(
    {
      environment: 'PARKWAY_SANDBOX_GPU_TIERS',
      description:
        'The tiers of simulated GPUs by id, with their prices and how many there are: see [deployments](deployments.md#drivers).',
    },
    'a JSON object as in docs/deployments.md',
    parseSandboxTiers,
  ),
  sandboxGpuStartMs: integerSetting(
    {
      environment: 'PARKWAY_SANDBOX_GPU_START_MS',
      description: 'How long a simulated GPU takes to be bound and to load a model.',
    },
    { default: 10_000, minimum: 0, maximum: 3_600_000 },
  ),
} as const
