import { isOrderSafe, pickVariables } from '../check-order.ts'
import type { LaunchOrder } from '../gpu-driver.ts'
import type { KubernetesSettings, KubernetesTierSettings } from './kubernetes-settings.ts'

/** Arguments of vLLM for each quantization. For `auto`, vLLM detects the quantization of the model files. */
const QUANTIZATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['auto', []],
  ['fp16', ['--dtype=float16']],
  ['bf16', ['--dtype=bfloat16']],
  ['fp8', ['--quantization=fp8']],
  ['awq', ['--quantization=awq']],
  ['gptq', ['--quantization=gptq']],
])

/** Writes the arguments of vLLM. Returns null for an unsafe order or an unknown quantization. */
export function writeArguments(
  order: LaunchOrder,
  tier: KubernetesTierSettings,
  settings: Pick<KubernetesSettings, 'port' | 'extraArguments'>,
): readonly string[] | null {
  const { huggingfaceId, revision, maxModelLen } = order
  const quantization = isOrderSafe(order) ? QUANTIZATIONS.get(order.quantization) : undefined
  if (quantization === undefined) return null
  return [
    huggingfaceId,
    `--served-model-name=${huggingfaceId}`,
    '--host=0.0.0.0',
    `--port=${settings.port}`,
    ...(revision === null ? [] : [`--revision=${revision}`, `--tokenizer-revision=${revision}`]),
    ...(maxModelLen === null ? [] : [`--max-model-len=${maxModelLen}`]),
    ...(tier.gpuCount > 1 ? [`--tensor-parallel-size=${tier.gpuCount}`] : []),
    ...quantization,
    ...settings.extraArguments,
  ].map(escapeReference)
}

interface EngineVariables {
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** Names of the account's variables that are not passed to the engine. */
  readonly leftOut: readonly string[]
}

export const CACHE_PATH = '/models'
export const HOME_PATH = '/home/engine'

/** Writes the engine's environment. The operator's variables override the account's. `USER`, `HOME` and `HF_HOME` are fixed. */
export function writeVariables(
  order: LaunchOrder,
  settings: Pick<KubernetesSettings, 'environment' | 'accountVariables'>,
  hubEndpoint: string | null,
): EngineVariables {
  const given = pickVariables(order, settings.accountVariables)
  const environment = {
    ...given.environment,
    ...(hubEndpoint === null ? {} : { HF_ENDPOINT: hubEndpoint }),
    ...settings.environment,
    // PyTorch looks up the user name, and the image may have none for this user id.
    USER: 'engine',
    HOME: HOME_PATH,
    HF_HOME: CACHE_PATH,
  }
  return {
    variables: Object.entries(environment).map(([name, value]) => ({ name, value: escapeReference(value) })),
    leftOut: given.leftOut,
  }
}

/** Doubles the dollar sign of `$(NAME)`, which Kubernetes would otherwise expand in arguments and variables. */
function escapeReference(text: string): string {
  return text.replaceAll('$(', '$$$$(')
}
