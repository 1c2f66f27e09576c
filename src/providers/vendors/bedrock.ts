import { listBedrockModels } from '../clouds/bedrock/bedrock-model-pages.ts'
import { isClaude } from '../clouds/bedrock/bedrock-models.ts'
import { createBedrockProvider } from '../clouds/bedrock/bedrock-provider.ts'
import { awsSignIn } from '../sign-in/aws-sign-in.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Amazon Bedrock. https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html */
export const bedrock: VendorDescriptor = {
  id: 'bedrock',
  keys: { prefix: 'BEDROCK', apiKey: ['BEDROCK_API_KEY', 'AWS_BEARER_TOKEN_BEDROCK'] },
  traceName: 'aws.bedrock',
  signIn: awsSignIn,
  addressForm: 'https://bedrock-runtime.{region}.amazonaws.com',
  modelPages: listBedrockModels,
  lacksChoices: true,
  // The factors of Claude are those of Anthropic. Models of other publishers have their own.
  cachePrices: { read: 10n, write: 125n, hourWrite: 200n },
  hasCachePrices: isClaude,
  adapters: [createBedrockProvider],
}
