import { afterAll, expect, test } from 'vitest'
import { CHAT, chatBody } from '../../chat/start-chat-gateway.ts'
import { startTokenServer } from '../../upstreams/clouds/token-server.ts'
import { completion, failure, json } from '../../upstreams/openai-server.ts'
import { startScriptedServer } from '../../upstreams/scripted-server.ts'
import { chatModel, startCloudGateway } from './start-cloud-gateway.ts'

const KEY = 'ibm-cloud-key-0123456789'
const AUDIENCE = 'iam'

/** IAM of IBM Cloud, from https://cloud.ibm.com/docs/account?topic=account-iamtoken_from_apikey */
const iam = await startTokenServer({
  check: ({ text, path }) => {
    const form = new URLSearchParams(text)
    const isGrant = form.get('grant_type') === 'urn:ibm:params:oauth:grant-type:apikey'
    return path === '/identity/token' && isGrant && form.get('apikey') === KEY
      ? { audience: AUDIENCE }
      : {
          refused: json(
            { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.' },
            400,
          ),
        }
  },
  answer: (access_token) => ({ access_token, token_type: 'Bearer', expires_in: 3600, expiration: 1 }),
})
const watsonx = await startScriptedServer(({ path, headers }) => {
  if (!iam.accepts(headers.authorization, AUDIENCE)) return failure(401)
  if (path === '/ml/gateway/v1/models') return json({ data: [{ id: 'ibm/granite-4' }] })
  return path === '/ml/gateway/v1/chat/completions' ? completion() : failure(404)
})
const document = { type: 'ibm_api_key', api_key: KEY, token_url: `${iam.baseUrl}/identity/token` }
const gateway = await startCloudGateway({
  models: [chatModel('granite', 'watsonx', 'ibm/granite-4')],
  settings: () => ({
    WATSONX_BASE_URL: `${watsonx.baseUrl}/ml/gateway/v1`,
    WATSONX_SIGN_IN: JSON.stringify(document),
  }),
})
afterAll(async () => {
  await gateway.close()
  await watsonx.close()
  await iam.close()
})

test('a key of IBM Cloud is exchanged once for a token, with which watsonx answers', async () => {
  const ask = () => gateway.request('POST', CHAT, { body: chatBody({ model: 'granite' }) })
  const answers = await Promise.all([ask(), ask(), ask()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(iam.requests).toHaveLength(1)
  expect(watsonx.requests.some(({ text, headers }) => `${text}${headers.authorization}`.includes(KEY))).toBe(
    false,
  )
})

test('the models of the gateway of watsonx are listed with a token', async () => {
  const { status, body } = await gateway.request('GET', '/v1/admin/providers/watsonx/models')
  expect([status, body.data]).toEqual([200, [{ id: 'ibm/granite-4', object: 'provider_model' }]])
})

test('a document that sends the key of IBM Cloud to another host is refused over the API', async () => {
  const answer = await gateway.request('POST', '/v1/admin/providers', {
    body: {
      name: 'watsonx-eu',
      vendor: 'watsonx',
      base_url: `${watsonx.baseUrl}/ml/gateway/v1`,
      api_key: JSON.stringify(document),
    },
  })
  expect([answer.status, answer.body.error.param]).toEqual([400, 'credentials.0'])
})
