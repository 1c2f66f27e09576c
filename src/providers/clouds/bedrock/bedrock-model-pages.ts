import { isRecord } from '../../../kernel/is-record.ts'
import { readPath, readString } from '../../ai-sdk/exchange/read-json.ts'
import type { ModelPage } from '../../model-page.ts'
import { isClaude, isOpenAi, prefixOf } from './bedrock-models.ts'

/**
 * The models of a region that are called by their ids, and the inference profiles of AWS and of the account.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html
 */
export function listBedrockModels(baseUrl: string): readonly ModelPage[] {
  const address = toControlAddress(baseUrl)
  return [
    { url: `${address}/foundation-models?byInferenceType=ON_DEMAND`, read: readModels },
    profilesPage(address, 'SYSTEM_DEFINED'),
    profilesPage(address, 'APPLICATION'),
  ]
}

/** Models are called at another host than they are listed at. An address that is not AWS's is asked itself. */
function toControlAddress(baseUrl: string): string {
  return baseUrl.replace(/^(https:\/\/bedrock)-runtime(-fips)?\./, '$1$2.')
}

function profilesPage(address: string, type: string, token?: string): ModelPage {
  const query = new URLSearchParams({
    maxResults: '1000',
    type,
    ...(token === undefined ? {} : { nextToken: token }),
  })
  return {
    url: `${address}/inference-profiles?${query.toString()}`,
    read(answer) {
      const list = readPath(answer, 'inferenceProfileSummaries')
      if (!Array.isArray(list)) return null
      const next = readString(answer, 'nextToken')
      return {
        names: list.flatMap(readProfile),
        next: next === undefined ? undefined : profilesPage(address, type, next).url,
      }
    },
  }
}

function readModels(answer: unknown) {
  const list = readPath(answer, 'modelSummaries')
  return Array.isArray(list) ? { names: list.flatMap(readModel) } : null
}

/** What these models make is what the gateway calls them for. */
const OUTPUTS = ['TEXT', 'EMBEDDING']

function readModel(model: unknown): string[] {
  const id = readString(model, 'modelId')
  const outputs = readPath(model, 'outputModalities')
  const isCalled = Array.isArray(outputs) && OUTPUTS.some((output) => outputs.includes(output))
  return id !== undefined && isCalled ? [id] : []
}

/** A profile of the account is called by its ARN, and the models that it leads to say by which wire. */
function readProfile(profile: unknown): string[] {
  if (!isRecord(profile) || profile['status'] !== 'ACTIVE') return []
  if (profile['type'] !== 'APPLICATION') return namesOf(profile['inferenceProfileId'])
  const models = Array.isArray(profile['models']) ? profile['models'] : []
  const model = readString(models[0], 'modelArn') ?? ''
  return namesOf(profile['inferenceProfileArn']).map((arn) =>
    isClaude(arn) || isOpenAi(arn) ? arn : prefixOf(model) + arn,
  )
}

function namesOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : []
}
