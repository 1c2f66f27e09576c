import { isRecord } from '../kernel/is-record.ts'
import type { Cancellation } from '../kernel/cancellation.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { ModelWeights } from './estimate-memory.ts'
import { HubError } from './hub-error.ts'
import { HubFiles } from './hub-files.ts'
import { isCommit, isHubId } from './hub-id.ts'
import { readModelShape, type ModelShape } from './model-shape.ts'
import type { ModelFile } from './model-file.ts'
import { pickFiles, type PickedFiles } from './pick-files.ts'
import { readGguf } from './read-gguf.ts'
import { readSafetensors } from './read-safetensors.ts'

/** Reads models from the Hugging Face hub or a compatible server. */
export interface Hub {
  /** Throws a `HubError`. */
  readModel(request: HubRequest): Promise<HubModel>
  /** Returns the commit and its files. Does not check that the token can read the files. Throws a `HubError`. */
  listFiles(request: HubRequest): Promise<ListedModel>
}

interface ListedModel {
  readonly commit: string
  readonly files: readonly ModelFile[]
}

export interface HubRequest {
  readonly modelId: string
  /** A branch, tag or commit; `main` by default. */
  readonly revision?: string | null
  /** Selects the files if a repository has several quantizations of the model; `auto` by default. */
  readonly quantization?: string
  readonly token?: string | null
  /** Whether a request without a token is made with the operator's. */
  readonly asOperator?: boolean
  readonly cancellation?: Cancellation
}

type WeightFormat = 'safetensors' | 'gguf' | 'pickle' | 'none'

export interface HubModel {
  readonly id: string
  /** The commit that all other fields were read from. */
  readonly commit: string
  readonly isGated: boolean
  readonly license: string | null
  readonly architecture: string | null
  readonly modelType: string | null
  readonly format: WeightFormat
  /** Whether the config refers to code in the repository that an engine would have to run. */
  readonly hasRemoteCode: boolean
  readonly hasChatTemplate: boolean
  /** The quantization method of the stored weights; null if they are not quantized. */
  readonly quantizedBy: string | null
  /** Null if the model is not a transformer or has no config. */
  readonly shape: ModelShape | null
  /** Null if there are neither safetensors nor GGUF files. */
  readonly weights: ModelWeights | null
  /** The files that an engine needs; null if it has neither safetensors nor GGUF files. */
  readonly picked: PickedFiles | null
}

interface HubOptions {
  readonly outbound: Pick<Outbound, 'fetch'>
  /** Without a trailing slash. */
  readonly endpoint: string
  /** The operator's token, for requests `asOperator` without one of their own. */
  readonly token?: string | null
}

const MAIN = 'main'
const INDEX_FILE = 'model.safetensors.index.json'
const SINGLE_FILE = 'model.safetensors'

export function createHub({ outbound, endpoint, token: operatorToken = null }: HubOptions): Hub {
  const open = async ({ modelId, revision, token, asOperator = false, cancellation }: HubRequest) => {
    if (!isHubId(modelId)) throw new HubError('missing', 'There is no such model on the hub.')
    const address = { endpoint, modelId, token: token ?? (asOperator ? operatorToken : null), cancellation }
    const facts = readInfo(
      await new HubFiles(outbound, { ...address, revision: revision ?? MAIN }).readInfo(),
    )
    // Everything else is read from this commit, even if the branch changes meanwhile.
    const files = new HubFiles(outbound, { ...address, revision: facts.commit })
    return { facts, files, listed: await files.listFiles() }
  }

  return {
    listFiles: async (request) => {
      const { facts, listed } = await open(request)
      return { commit: facts.commit, files: listed }
    },
    readModel: async (request) => {
      const { facts, files, listed } = await open(request)
      const names = new Set(listed.map(({ path }) => path))
      const config = names.has('config.json') ? await files.readJson('config.json') : null
      const quantization = isRecord(config) ? config['quantization_config'] : null
      const format = formatOf(names)
      const picked =
        format === 'safetensors' || format === 'gguf'
          ? pickFiles(listed, request.quantization ?? 'auto')
          : null
      const gguf = picked?.format === 'gguf' ? await readGguf(files, picked.weights) : null
      const described = {
        id: request.modelId,
        ...facts,
        ...describeConfig(config),
        quantizedBy: isRecord(quantization) ? textOf(quantization['quant_method']) : null,
        picked,
      }
      if (gguf !== null) {
        const { architecture, hasChatTemplate, shape, weights } = gguf
        return {
          ...described,
          architecture,
          modelType: architecture,
          format: 'gguf',
          hasChatTemplate,
          shape,
          weights,
        }
      }
      const shape = readModelShape(config)
      return {
        ...described,
        format,
        hasChatTemplate: await findChatTemplate(files, names),
        shape,
        weights:
          format === 'safetensors'
            ? await readSafetensors(files, await listWeightFiles(files, names), {
                packedBits: packedBitsOf(quantization),
                isTied: shape?.isTied ?? false,
              })
            : null,
      }
    },
  }
}

function readInfo(info: unknown) {
  if (!isRecord(info) || typeof info['sha'] !== 'string' || !isCommit(info['sha']))
    throw new HubError('unreadable', 'The hub does not say which commit the model is at.')
  const card = info['cardData']
  const tags = Array.isArray(info['tags']) ? info['tags'] : []
  const tag = tags.find((one): one is string => typeof one === 'string' && one.startsWith('license:'))
  return {
    commit: info['sha'],
    isGated: info['gated'] !== undefined && info['gated'] !== false,
    license: (isRecord(card) ? textOf(card['license']) : null) ?? tag?.slice('license:'.length) ?? null,
  }
}

function formatOf(names: ReadonlySet<string>): WeightFormat {
  const has = (pattern: RegExp) => [...names].some((name) => pattern.test(name))
  if (names.has(SINGLE_FILE) || names.has(INDEX_FILE)) return 'safetensors'
  if (has(/\.gguf$/i)) return 'gguf'
  return has(/\.(?:bin|pt|pth|ckpt|pkl)$/i) ? 'pickle' : 'none'
}

async function listWeightFiles(files: HubFiles, names: ReadonlySet<string>): Promise<string[]> {
  if (!names.has(INDEX_FILE)) return [SINGLE_FILE]
  const index = await files.readJson(INDEX_FILE)
  const map = isRecord(index) && isRecord(index['weight_map']) ? index['weight_map'] : {}
  const listed = [...new Set(Object.values(map))].filter((name) => typeof name === 'string')
  // Names outside the repository are missing files, or paths to another place.
  if (listed.length === 0 || listed.some((name) => !names.has(name)))
    throw new HubError('unreadable', 'The index of the weights names files that are not there.')
  return listed
}

/** Returns the bits per weight for AWQ and GPTQ, which pack several weights into one number; otherwise null. */
function packedBitsOf(quantization: unknown): number | null {
  if (!isRecord(quantization)) return null
  const method = textOf(quantization['quant_method'])
  const { bits } = quantization
  const isPacked = method === 'awq' || method === 'gptq'
  return isPacked && (bits === 2 || bits === 3 || bits === 4 || bits === 8) ? bits : null
}

function describeConfig(config: unknown): Pick<HubModel, 'architecture' | 'modelType' | 'hasRemoteCode'> {
  if (!isRecord(config)) return { architecture: null, modelType: null, hasRemoteCode: false }
  const { architectures } = config
  return {
    architecture: Array.isArray(architectures) ? textOf(architectures[0]) : null,
    modelType: textOf(config['model_type']),
    hasRemoteCode: isRecord(config['auto_map']) && Object.keys(config['auto_map']).length > 0,
  }
}

async function findChatTemplate(files: HubFiles, names: ReadonlySet<string>): Promise<boolean> {
  if (names.has('chat_template.jinja') || names.has('chat_template.json')) return true
  if (!names.has('tokenizer_config.json')) return false
  const config = await files.readJson('tokenizer_config.json')
  return isRecord(config) && config['chat_template'] !== undefined && config['chat_template'] !== null
}

const TEXT_LENGTH_MAX = 500

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX ? value : null
}
