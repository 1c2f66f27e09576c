import { expect, test } from 'vitest'
import { rememberSecrets, scrubUpstreamText } from './scrub-upstream-text.ts'

test.each([
  ['Incorrect API key provided: sk-proj-abcdefgh1234', 'sk-proj-abcdefgh1234'],
  ['You sent {"authorization":"Bearer abc.def-123"}', 'abc.def-123'],
  ['You sent {\\"x-api-key\\":\\"0123-4567\\"}', '0123-4567'],
  ['authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['see https://user:hunter2@example.com/v1/models', 'hunter2'],
  ['connect ECONNREFUSED 10.1.2.3:8000', '10.1.2.3'],
  ['upstream 192.168.0.7 and 172.31.255.1:80 are away', '172.31.255.1'],
  ['upstream 169.254.169.254 refused', '169.254.169.254'],
  ['bound to [::1]:9000', '::1'],
  ['peer fd12:3456:789a::1 is gone', 'fd12:3456:789a::1'],
  ['POST http://vllm-7:8000/v1/chat/completions failed', 'vllm-7'],
  ['no healthy upstream at llama.models.svc.cluster.local:8080', 'llama.models'],
  ['http://inference.corp/x timed out', 'inference.corp'],
  ['the key AIzaSyD-1234567890abcdef was refused', 'AIzaSyD'],
  ['GET /v1?key=abcd1234&x=1 failed', 'abcd1234'],
  ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln expired', 'eyJzdWIi'],
  ['unknown key 0123456789abcdef0123456789abcdef', '0123456789abcdef'],
  ['User: arn:aws:sts::123456789012:assumed-role/gateway/s is not authorized', '123456789012'],
  ['model arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1 is unknown', 'a1 is'],
  ['account 123456789012 has no access', '123456789012'],
  ['denied on resource //aiplatform.googleapis.com/projects/acme-prod/locations/us-east5', 'acme-prod'],
  ['Quota exceeded for consumer project_number:4711081500', '4711081500'],
  ['gateway@acme-prod.iam.gserviceaccount.com may not predict', 'acme-prod'],
  ['/subscriptions/1111-22/resourceGroups/prod/providers/p was not found', 'prod/'],
  ['contoso-eu.openai.azure.com is throttled', 'contoso'],
  ['the operator wrote correct-horse-battery', 'correct-horse-battery'],
])('%s', (text, secret) => {
  rememberSecrets(['correct-horse-battery', 'short'])
  const scrubbed = scrubUpstreamText(text)
  expect(scrubbed).not.toContain(secret)
  expect(scrubbed).toContain('[redacted]')
})

test.each([
  "This model's maximum context length is 128000 tokens. However, you requested 131072 tokens.",
  'The model `claude-sonnet-4-5-20250929` does not exist, see https://docs.anthropic.com/en/docs/models.',
  'Invalid type for messages[0].content: expected a string of at most 10 characters, a short one.',
  'max_tokens: 500 is above 256; version 1.10.20.30 of gpt-4o-mini-2024-07-18',
])('text that helps a client is kept: %s', (text) => {
  expect(scrubUpstreamText(text)).toBe(text)
})

test('the longest text is scrubbed in linear time', () => {
  for (const piece of ['a', '1', 'a1', 'http://a', '10.', ':', '-', 'key=', 'a.']) {
    const text = piece.repeat(2_000_000 / piece.length)
    expect(scrubUpstreamText(text).length).toBeLessThanOrEqual(40_000)
  }
})
