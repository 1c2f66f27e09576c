import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../keys/keys.ts'
import { modelNotAllowed } from '../projects/projects.ts'

/** Returns the error for a key that is restricted to some models: it may not add models, or start and stop other ones. */
export function notAllowed(): AppError {
  return new AppError('model_not_allowed', 'This key may use only some models, and this is not one of them.')
}

/** Throws unless the key and its project may use this deployment, which has no other names. */
export function requireAllowed({ allowedModels, project }: Caller, modelId: string): void {
  if (allowedModels?.has(modelId) === false) throw notAllowed()
  const models = project?.models ?? null
  if (models !== null && models.modelIds.has(modelId) !== (models.mode === 'allow_list'))
    throw modelNotAllowed(modelId)
}
