/** Descriptions of the deployment operations, by method and path. */
export const DEPLOYMENT_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/gpu-tiers': 'Lists the GPU tiers that deployments can run on, with prices. At most a minute old.',
  'GET /v1/gpu-tiers/live': 'Lists the same tiers, and asks the drivers for prices and free capacity now.',
  'GET /v1/deployment-templates': 'Lists recommended models with a tier and settings that suit them.',
  'POST /v1/hf/validate':
    'Reads a model from the hub: its licence, architecture and size, by the headers of its weights. Says whether it can be deployed, ' +
    'why not, and how much memory it takes. Pickled weights and models with code of their own are refused.',
  'GET /v1/deployments/preview':
    'Estimates how a model would fit on a tier: memory, the longest context, the price, and other tiers that it fits on.',
  'POST /v1/deployments/prefetch':
    'Downloads a model of the hub into the cache of the gateway before it is deployed, after the same checks as a deployment. An account ' +
    'downloads three at once. The same order again changes nothing while it downloads. It costs nothing.',
  'GET /v1/deployments/prefetch/{hub_id}':
    'Returns how far a download of this account is. The id may have its slash encoded or not.',
  'POST /v1/deployments/prefetch/{hub_id}/cancel':
    'Cancels a download. What is here already is kept until the room is needed.',
  'POST /v1/deployments':
    'Deploys a model of the hub on a GPU tier. It is billed by the second from when it has a GPU until that is released; ' +
    'a start that never becomes ready is free. Ask it as model `byom-<id>`.',
  'GET /v1/deployments': 'Lists the deployments of the account, newest first.',
  'GET /v1/deployments/{id}':
    'Returns a deployment with its status, what is wanted of it and what it has cost.',
  'POST /v1/deployments/{id}/start':
    'Starts a deployment that is stopped, failed or asleep. Returns at once; the status and the events tell when it runs.',
  'POST /v1/deployments/{id}/stop':
    'Stops a deployment. New requests are refused, those in flight may end, then the GPU is released.',
  'DELETE /v1/deployments/{id}': 'Deletes a deployment and releases its GPU. Its events can still be read.',
  'GET /v1/deployments/{id}/events': 'Lists every change of the status with its reason, oldest first.',
  'GET /v1/deployments/{id}/billing':
    'Returns what the deployment has cost, what it costs an hour now, and since when.',
  'GET /v1/deployments/{id}/metrics':
    'Returns requests, errors, tokens, latency and time to the first token of a window, and their series. Measured at the gateway ' +
    'over all processes; `engine` is what the engine says of itself, where it has Prometheus metrics.',
  'GET /v1/deployments/{id}/logs':
    'Returns the last lines of the engine, of the current or the last run. With `follow` it goes on with every line that comes, ' +
    'as server-sent events, until the deployment has ended.',
  'POST /v1/deployments/{id}/chat':
    'Asks a deployment. The same as `POST /v1/chat/completions` with the model `byom-<id>`. Tokens cost nothing: the GPU is the ' +
    'price. A deployment that sleeps is woken, and the request waits for it.',
}
