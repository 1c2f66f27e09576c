import { json } from '../openai-server.ts'
import type { RecordedRequest, ScriptedReply } from '../scripted-server.ts'
import { ACCOUNT, REGION } from './bedrock-replies.ts'

const MODELS = [
  ['amazon.nova-pro-v1:0', 'TEXT'],
  ['amazon.titan-embed-text-v2:0', 'EMBEDDING'],
  ['amazon.titan-image-generator-v2:0', 'IMAGE'],
]

const OWN_PROFILES = [
  ['team-a', 'anthropic.claude-sonnet-4-5-20250929-v1:0', 'ACTIVE'],
  ['team-b', 'amazon.nova-pro-v1:0', 'ACTIVE'],
  ['team-c', 'amazon.nova-pro-v1:0', 'CREATING'],
]

/**
 * The lists of one region, from https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html and
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html. Null for other requests.
 */
export function answerList({ method, path }: RecordedRequest): ScriptedReply | null {
  const { pathname, searchParams } = new URL(path, 'http://bedrock')
  if (method !== 'GET') return null
  if (pathname === '/foundation-models' && searchParams.get('byInferenceType') === 'ON_DEMAND')
    return json({
      modelSummaries: MODELS.map(([modelId, output]) => ({ modelId, outputModalities: [output] })),
    })
  if (pathname !== '/inference-profiles') return null
  return searchParams.get('type') === 'APPLICATION'
    ? json({ inferenceProfileSummaries: OWN_PROFILES.map(ownProfile) })
    : systemProfiles(searchParams.get('nextToken'))
}

function ownProfile([id, model, status]: readonly string[]) {
  return {
    inferenceProfileId: id,
    inferenceProfileArn: `arn:aws:bedrock:${REGION}:${ACCOUNT}:application-inference-profile/${id}`,
    models: [{ modelArn: `arn:aws:bedrock:${REGION}::foundation-model/${model}` }],
    status,
    type: 'APPLICATION',
  }
}

/** Two pages. */
function systemProfiles(token: string | null): ScriptedReply {
  const profile = (inferenceProfileId: string) => ({
    inferenceProfileId,
    status: 'ACTIVE',
    type: 'SYSTEM_DEFINED',
  })
  if (token === null)
    return json({ inferenceProfileSummaries: [profile('eu.amazon.nova-pro-v1:0')], nextToken: 'next+/=' })
  if (token !== 'next+/=') return json({ message: 'Invalid token' }, 400)
  return json({ inferenceProfileSummaries: [profile('eu.meta.llama3-2-3b-instruct-v1:0')] })
}
