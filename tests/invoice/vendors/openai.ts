import type { HostedFiles } from '../files/hosted-files.ts'
import { answerChat } from './openai-chat.ts'
import { answerEdit } from './openai-edits.ts'
import { answerEmbedding } from './openai-embeddings.ts'
import { answerResponse } from './openai-responses.ts'
import type { Plans } from './planned-work.ts'
import { Refused, startVendor, type Vendor, type VendorCall } from './vendor-server.ts'

const ROUTES: Readonly<Record<string, (call: VendorCall) => Promise<void>>> = {
  '/v1/chat/completions': answerChat,
  '/v1/responses': answerResponse,
  '/v1/embeddings': answerEmbedding,
  '/v1/images/edits': answerEdit,
}

/** OpenAI with the operations that the cases use. */
export function startOpenAi(plans: Plans, files: HostedFiles): Promise<Vendor> {
  return startVendor({
    name: 'openai',
    plans,
    files,
    handle: (call) => {
      const route = ROUTES[call.path]
      if (route === undefined) throw new Refused(`Invalid URL (${call.path})`, 404)
      return route(call)
    },
  })
}
