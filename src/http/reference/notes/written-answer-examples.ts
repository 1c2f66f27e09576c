import { lookupTable } from '../../../kernel/lookup-table.ts'

const ID = '01a1ea6c-2653-7167-8fd4-30e6d667493c'
const TIME = '2026-11-17T16:51:58.675Z'

const receiptOf = (model: string) => ({
  task_id: ID,
  id: ID,
  status: 'pending',
  poll_url: `/v1/tasks/${ID}`,
  model,
  created_at: TIME,
})
const identity = {
  object: 'identity',
  id: ID,
  provider: 'Acme',
  issuer: 'https://sign-in.acme.example',
  is_enabled: true,
  email: 'ada@acme.example',
  created_at: TIME,
  last_used_at: TIME,
}
const identities = {
  object: 'list',
  data: [identity],
  identities: [identity],
  total: 1,
  has_more: false,
  next_cursor: null,
}
const imageAnswer = {
  created: 1_794_934_318,
  data: [{ url: 'http://127.0.0.1:8080/media/…' }],
  usage: { images: 1, cost_usd: 0.04 },
}

/**
 * Examples of answers that are not recorded, because they are not JSON, need a provider, or are the rarer of two answers. By
 * operation, status and content type.
 */
export const WRITTEN_ANSWER_EXAMPLES = lookupTable<unknown>({
  'GET /v1/identities 200 application/json': identities,
  'POST /v1/identities 201 application/json': identity,
  'DELETE /v1/identities/{id} 200 application/json': identity,
  'GET /v1/organization/users/{user_id}/identities 200 application/json': identities,
  'DELETE /v1/organization/users/{user_id}/identities/{id} 200 application/json': identity,
  'GET /v1/admin/config/export 200 application/yaml':
    'parkway: 1\nproviders:\n  - name: basement\n    vendor: null\n    base_url: http://10.0.0.7:8000/v1\n    credentials:\n      - secret_ref: env:KEY_OF_THE_SERVER\nmodels: []\nprices: []\n',
  'POST /v1/images/generations 202 application/json': receiptOf('flux-schnell'),
  'POST /v1/images/edits 202 application/json': receiptOf('flux-kontext-pro'),
  'POST /v1/images/upscale 200 application/json': imageAnswer,
  'POST /v1/images/bg-remove 200 application/json': imageAnswer,
  'POST /v1/audio/speech 202 application/json': receiptOf('elevenlabs-tts'),
  'POST /v1/webhook-deliveries/{id}/redeliver 200 application/json': {
    id: ID,
    task_id: ID,
    budget_alert_id: null,
    statement_id: null,
    usage_anomaly_id: null,
    account_notice_id: null,
    url: 'https://example.com/hook',
    status: 'pending',
    attempts: [{ at: TIME, status: 500, error: null, duration_ms: 120 }],
    next_attempt_at: TIME,
    created_at: TIME,
    completed_at: null,
  },
  'POST /v1/payments/webhook/{provider} 200 application/json': { received: true },
  'POST /v1/admin/payments/{id}/refund 200 application/json': {
    id: ID,
    object: 'payment',
    kind: 'refund',
    amount_usd: -5,
    status: 'completed',
    created_at: TIME,
    completed_at: TIME,
    refunded_payment_id: ID,
  },
  'POST /v1/admin/providers/{name}/test 200 application/json': {
    object: 'provider_test',
    provider: 'example',
    model: 'gpt-5.6-luna',
    upstream_model: 'example-nano',
    is_ok: true,
    latency_ms: 412,
    status: null,
    failure: null,
    message: null,
  },
  'POST /v1/admin/providers/test 200 application/json': {
    object: 'provider_test',
    provider: 'example',
    model: 'gpt-5.6-luna',
    upstream_model: 'example-nano',
    is_ok: false,
    latency_ms: 96,
    status: 401,
    failure: 'status',
    message: 'The key is not valid.',
  },
  'GET /v1/admin/providers/{name}/models 200 application/json': {
    object: 'list',
    provider: 'example',
    data: [{ id: 'example-nano', object: 'provider_model' }],
  },
  'GET /readyz 503 application/json': { status: 'shutting_down', checks: {}, warnings: [] },
  'GET /openapi.json 200 application/json': {
    openapi: '3.1.1',
    info: { title: 'Parkway', version: '0.0.0' },
    paths: {},
  },
  'GET /v1/responses/{id} 200 text/event-stream':
    'event: response.completed\ndata: {"type":"response.completed","sequence_number":7,"response":{"id":"resp_…","status":"completed"}}\n\n',
  'POST /v1/audio/speech 200 text/event-stream':
    'data: {"type":"speech.audio.delta","audio":"SUQz…"}\n\ndata: {"type":"speech.audio.done"}\n\n',
  'POST /v1/audio/transcriptions 200 text/event-stream':
    'data: {"type":"transcript.text.delta","delta":"Hello"}\n\ndata: {"type":"transcript.text.done","text":"Hello."}\n\n',
  'GET /v1/compare/runs/{run_id}/export 200 text/csv':
    'prompt_index,repeat,lane_id,model,output\r\n0,0,01a1ea6c-2653-7167-8fd4-30e6d667493c,gpt-5.4,Hello.\r\n',
  'GET /v1/organization/receipts/records 200 application/x-jsonl':
    '{"request_id":"req_01a1ea6c265371678fd430e6d667493c","cost_nano_usd":"1250","…":"…"}\n',
  'GET /v1/organization/receipts/{receipt_id}/leaves 200 text/plain':
    'req_01a1ea6c265371678fd430e6d667493c 5f2b0c6a91d3e84f70b1c2d3e4f5a6b7\n',
  'GET /v1/statements/{month} 200 text/csv':
    'at,kind,description,project_id,project,key_id,key,model,requests,amount_usd\r\n2026-10-01T00:00:00.000Z,opening_balance,,,,,,,,5\r\n',
  'GET /v1/admin/accounts/{id}/statements/{month} 200 text/csv':
    'at,kind,description,project_id,project,key_id,key,model,requests,amount_usd\r\n2026-10-01T00:00:00.000Z,opening_balance,,,,,,,,5\r\n',
  'GET /v1/requests 200 text/csv':
    'created_at,request_id,outcome,http_status,error_code,error_message,operation,requested_model,model,provider,env,key_id,key,tags,user,prompt_tokens,cached_tokens,completion_tokens,reasoning_tokens,latency_ms,ttft_ms,attempts,cost_usd\r\n',
  'GET /v1/admin/requests 200 text/csv':
    'created_at,request_id,outcome,http_status,error_code,error_message,operation,requested_model,model,provider,env,key_id,key,tags,user,prompt_tokens,cached_tokens,completion_tokens,reasoning_tokens,latency_ms,ttft_ms,attempts,cost_usd,account_id,account\r\n',
  'GET /v1/payments/history 200 text/csv':
    'at,completed_at,id,kind,status,amount_usd,reason,refunded_payment_id,receipt_url\r\n',
  'GET /v1/admin/payments 200 text/csv':
    'at,completed_at,id,kind,status,amount_usd,reason,refunded_payment_id,receipt_url,account_id,account\r\n',
  'GET /v1/admin/accounts/{id}/payments 200 text/csv':
    'at,completed_at,id,kind,status,amount_usd,reason,refunded_payment_id,receipt_url\r\n',
  'GET /v1/ledger 200 text/csv':
    'at,id,kind,description,project_id,project,key_id,key,model,requests,amount_usd,balance_usd\r\n2026-11-17T16:20:29.000Z,1702,charge,,proj_01a1b2c3d4e5f60718293a4b5c6d7e8f,Default,01a1b2c3-d4e5-7f60-8182-93a4b5c6d7e8,search,gpt-5.4,120,-0.45,19.55\r\n',
  'GET /v1/admin/accounts/{id}/ledger 200 text/csv':
    'at,id,kind,description,project_id,project,key_id,key,model,requests,amount_usd,balance_usd\r\n2026-11-17T16:20:29.000Z,1702,charge,,proj_01a1b2c3d4e5f60718293a4b5c6d7e8f,Default,01a1b2c3-d4e5-7f60-8182-93a4b5c6d7e8,search,gpt-5.4,120,-0.45,19.55\r\n',
  'POST /v1/admin/requests/{request_id}/replay 200 application/json': {
    object: 'request.replay',
    request_id: 'req_01a1e9000fc97effb14cdd4471e0969d',
    replayed_request_id: 'req_01a1ea6c26537167b8d430e6d667493c',
    charged_account_id: ID,
    model: 'gpt-5.4',
    provider: 'basement',
    latency_ms: 812,
    prompt_tokens: 12,
    completion_tokens: 3,
    cost_usd: 0.00006,
    answer: {
      text: '{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."}}]}',
      assembled_text: 'Hello.',
    },
  },
  'GET /v1/admin/accounts 200 text/csv':
    'id,name,status,suspended_reason,note,balance_usd,spent_30d_usd,spent_before_usd,failed_requests_30d,created_at\r\n01a1ea6c-2653-7167-8fd4-30e6d667493c,Acme,active,,,12.5,4.5,3.9,2,2026-10-01T08:00:00.000Z\r\n',
  'GET /v1/admin/usage 200 text/csv':
    'from,to,by,value,name,account_id,account,requests,cost_usd,previous_cost_usd\r\n2026-10-01T00:00:00.000Z,2026-11-01T00:00:00.000Z,model,gpt-5.4,gpt-5.4,,,120,4.5,3.9\r\n',
  'GET /v1/admin/audit 200 text/csv':
    'time,id,action,outcome,actor,target_kind,target,account,changes\r\n2026-11-17T16:51:58.675Z,01a1ea6c-2653-7167-8fd4-30e6d667493c,account.suspend,done,ada@example.com,account,Acme,Acme,"[{""member"":""status"",""from"":""active"",""to"":""suspended""}]"\r\n',
  'GET /v1/admin/statements 200 text/csv':
    'month,status,number,account_id,account,opening_balance_usd,closing_balance_usd\r\n2026-10,closed,ST-000042,01a1ea6c-2653-7167-8fd4-30e6d667493c,Ada,5,4.5\r\n',
  'GET /metrics 200 text/plain':
    '# TYPE parkway_http_requests_total counter\nparkway_http_requests_total{status="200"} 5\n',
})

/** Examples by content type, for operations that have none of their own. */
export const EXAMPLES_OF_TYPES = lookupTable<unknown>({
  'text/plain': 'Hello.',
  'application/x-protobuf': '(nothing, or why nothing was taken)',
  'text/html': '<!doctype html><title>Parkway</title>',
  'text/vtt': 'WEBVTT\n\n00:00:00.000 --> 00:00:01.200\nHello.\n',
  'application/x-subrip': '1\n00:00:00,000 --> 00:00:01,200\nHello.\n',
  'text/event-stream': 'data: {"type":"…"}\n\n',
  'application/pdf': '(the bytes of the document)',
  'application/octet-stream': '(the bytes of the file)',
  'application/x-jsonl': '{"custom_id":"first","result":{"type":"succeeded","message":{"…":"…"}}}\n',
  'audio/mpeg': '(the bytes of the sound)',
  'audio/ogg': '(the bytes of the sound)',
  'audio/aac': '(the bytes of the sound)',
  'audio/flac': '(the bytes of the sound)',
  'audio/wav': '(the bytes of the sound)',
  'audio/pcm': '(the bytes of the sound)',
})
