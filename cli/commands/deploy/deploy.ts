import { commandGroup } from '../../command-group.ts'
import { create } from './create.ts'
import { billing, list, metrics, show, templates } from './inspect.ts'
import { events, logs, remove, start, stop } from './operate.ts'

export const deploy = commandGroup({
  name: 'deploy',
  summary: 'Deploy a model of the hub on a GPU, and look after deployments.',
  example: 'parkway deploy list',
  byDefault: create,
  others: [list, show, start, stop, remove, events, logs, metrics, billing, templates],
})
