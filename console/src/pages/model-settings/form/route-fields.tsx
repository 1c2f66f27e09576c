import { Button } from '../../../ui/forms/button.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { EMPTY_ROUTE, type RouteDraft } from './model-draft.ts'

interface RouteFieldsProps {
  readonly routes: readonly RouteDraft[]
  readonly onChange: (routes: readonly RouteDraft[]) => void
}

const ROUTES_MAX = 32

/** Who serves the model, under which name. */
export function RouteFields({ routes, onChange }: RouteFieldsProps) {
  const change = (index: number, next: Partial<RouteDraft>): void =>
    onChange(routes.map((route, at) => (at === index ? { ...route, ...next } : route)))
  return (
    <fieldset className="flex flex-col gap-3 border-t border-line pt-4">
      <legend className="float-left mb-2 text-sm font-semibold">Routes</legend>
      <p className="clear-both text-xs text-ink-faint">
        Routes with a lower priority number are tried first. Those with the same number share the requests by
        weight.
      </p>
      {routes.map((route, index) => (
        <div
          key={index}
          role="group"
          aria-label={`Route ${index + 1}`}
          className="grid grid-cols-2 items-end gap-3 sm:grid-cols-[1fr_1.4fr_80px_80px_auto]"
        >
          <TextField
            label="Provider"
            required
            maxLength={256}
            placeholder="openai"
            value={route.provider}
            onChange={(provider) => change(index, { provider })}
          />
          <TextField
            label="The provider’s name of the model"
            required
            maxLength={256}
            value={route.model}
            onChange={(model) => change(index, { model })}
          />
          <TextField
            label="Priority"
            type="number"
            min="0"
            max="1000"
            step="1"
            placeholder={String(index)}
            value={route.priority}
            onChange={(priority) => change(index, { priority })}
          />
          <TextField
            label="Weight"
            type="number"
            min="0"
            step="any"
            placeholder="1"
            value={route.weight}
            onChange={(weight) => change(index, { weight })}
          />
          <IconButton
            icon="trash"
            label={`Remove route ${index + 1}`}
            disabled={routes.length === 1}
            onClick={() => onChange(routes.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button
          icon="plus"
          disabled={routes.length >= ROUTES_MAX}
          onClick={() => onChange([...routes, EMPTY_ROUTE])}
        >
          Add a route
        </Button>
      </div>
    </fieldset>
  )
}
