import type { VendorDescriptor } from './vendor-descriptor.ts'
import { alibaba } from './vendors/alibaba.ts'
import { anthropic } from './vendors/anthropic.ts'
import { assemblyai } from './vendors/assemblyai.ts'
import { azure } from './vendors/azure.ts'
import { baseten } from './vendors/baseten.ts'
import { bedrock } from './vendors/bedrock.ts'
import { blackForestLabs } from './vendors/black-forest-labs.ts'
import { bytedance } from './vendors/bytedance.ts'
import { cerebras } from './vendors/cerebras.ts'
import { cloudflare } from './vendors/cloudflare.ts'
import { cohere } from './vendors/cohere.ts'
import { dashscope } from './vendors/dashscope.ts'
import { databricks } from './vendors/databricks.ts'
import { deepgram } from './vendors/deepgram.ts'
import { deepinfra } from './vendors/deepinfra.ts'
import { deepseek } from './vendors/deepseek.ts'
import { elevenlabs } from './vendors/elevenlabs.ts'
import { fal } from './vendors/fal.ts'
import { fireworks } from './vendors/fireworks.ts'
import { githubModels } from './vendors/github-models.ts'
import { google } from './vendors/google.ts'
import { groq } from './vendors/groq.ts'
import { huggingface } from './vendors/huggingface.ts'
import { hyperbolic } from './vendors/hyperbolic.ts'
import { infinity } from './vendors/infinity.ts'
import { jina } from './vendors/jina.ts'
import { klingai } from './vendors/klingai.ts'
import { llamacpp } from './vendors/llamacpp.ts'
import { lmstudio } from './vendors/lmstudio.ts'
import { luma } from './vendors/luma.ts'
import { minimax } from './vendors/minimax.ts'
import { mistral } from './vendors/mistral.ts'
import { moonshot } from './vendors/moonshot.ts'
import { nebius } from './vendors/nebius.ts'
import { novita } from './vendors/novita.ts'
import { nvidia } from './vendors/nvidia.ts'
import { ollama } from './vendors/ollama.ts'
import { openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'
import { ovhcloud } from './vendors/ovhcloud.ts'
import { replicate } from './vendors/replicate.ts'
import { sambanova } from './vendors/sambanova.ts'
import { scaleway } from './vendors/scaleway.ts'
import { snowflake } from './vendors/snowflake.ts'
import { tei } from './vendors/tei.ts'
import { tgi } from './vendors/tgi.ts'
import { together } from './vendors/together.ts'
import { vertex } from './vendors/vertex.ts'
import { vllm } from './vendors/vllm.ts'
import { voyage } from './vendors/voyage.ts'
import { watsonx } from './vendors/watsonx.ts'
import { xai } from './vendors/xai.ts'
import { zai } from './vendors/zai.ts'

/** All known vendors. To add one, add its file and a line here. */
export const VENDORS: readonly VendorDescriptor[] = [
  openai,
  azure,
  bedrock,
  vertex,
  groq,
  deepseek,
  mistral,
  xai,
  dashscope,
  moonshot,
  zai,
  minimax,
  together,
  fireworks,
  openrouter,
  cerebras,
  nvidia,
  sambanova,
  nebius,
  deepinfra,
  novita,
  hyperbolic,
  baseten,
  huggingface,
  githubModels,
  scaleway,
  ovhcloud,
  cloudflare,
  databricks,
  snowflake,
  watsonx,
  vllm,
  llamacpp,
  ollama,
  lmstudio,
  tgi,
  infinity,
  tei,
  jina,
  anthropic,
  google,
  cohere,
  voyage,
  elevenlabs,
  deepgram,
  assemblyai,
  fal,
  replicate,
  blackForestLabs,
  luma,
  bytedance,
  alibaba,
  klingai,
]

const byId = new Map(VENDORS.map((vendor) => [vendor.id, vendor]))

/** Names that operators gave to providers of a vendor. Shared by the process, as the vendors are. */
const named = new Map<string, VendorDescriptor>()

/**
 * Notes which providers with names of their own belong to a vendor. A name that is not mentioned keeps its vendor. Returns whether one
 * means something else now.
 */
export function nameVendors(providers: ReadonlyMap<string, { readonly vendor?: string }>): boolean {
  let isDifferent = false
  for (const [name, { vendor = name }] of providers) {
    const descriptor = byId.get(vendor)
    if (byId.has(name) || named.get(name) === descriptor) continue
    if (descriptor === undefined) named.delete(name)
    else named.set(name, descriptor)
    isDifferent = true
  }
  return isDifferent
}

/** Takes a vendor's id, or the name of a provider. Returns undefined for a custom server. */
export function vendorOf(id: string): VendorDescriptor | undefined {
  return byId.get(id) ?? named.get(id)
}

interface VendorAddress {
  readonly common: string | null
  readonly form: string | null
}

/** Returns the address that a vendor has for all customers, and the form of the one that each customer has. Null if there is none. */
export function addressOf({ wire, addressForm }: VendorDescriptor): VendorAddress {
  const address = wire?.defaultBaseUrl ?? null
  if (address === null || !address.includes('{')) return { common: address, form: addressForm ?? null }
  return { common: null, form: address }
}

/** Whether a provider of the vendor works only with an address that the operator configures. */
export function needsAddress(vendor: VendorDescriptor): boolean {
  return vendor.wire?.defaultBaseUrl === null || addressOf(vendor).form !== null
}

/** Whether the operator runs it: a kind of server, or a provider under a name of the operator's own. */
export function isSelfHosted(id: string): boolean {
  const vendor = vendorOf(id)
  return vendor === undefined || vendor.wire?.defaultBaseUrl === null
}
