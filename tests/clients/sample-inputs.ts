import { z } from 'zod'

export const WEATHER_TOOL_NAME = 'get_weather'
export const WEATHER_TOOL_DESCRIPTION = 'The weather in a city.'
export const WeatherArguments = z.object({ city: z.string() })
const WEATHER_PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

/** The tool in OpenAI's format. */
export const WEATHER_TOOL = {
  type: 'function' as const,
  function: {
    name: WEATHER_TOOL_NAME,
    description: WEATHER_TOOL_DESCRIPTION,
    parameters: WEATHER_PARAMETERS,
  },
}

/** Returns the result of the weather tool. */
export function describeWeather({ city }: z.infer<typeof WeatherArguments>): string {
  return `18 degrees in ${city}`
}

/** Covers what a strict JSON schema supports: nesting, bounds, a list, an enum and a nullable value. */
export const Film = z.object({
  title: z.string(),
  year: z.int().min(1900).max(2100),
  genres: z.array(z.enum(['drama', 'comedy', 'western'])),
  director: z.object({ name: z.string(), born: z.int().nullable() }),
})

export const FILM = {
  title: 'Stagecoach',
  year: 1939,
  genres: ['western'],
  director: { name: 'John Ford', born: null },
} satisfies z.infer<typeof Film>

/** A PNG of 3×2 pixels. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg=='
export const PNG_DATA_URI = `data:image/png;base64,${PNG_BASE64}`
