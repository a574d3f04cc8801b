package configs

import "time"

// What the agent takes of memory: a base for programs, buffers and connections, and so much for each reading that is
// remembered, the sensor's own state included. Measured in package crash.
const (
	memoryBase        = 32 * MiB
	bytesOfRemembered = 32
	bytesOfSensor     = 1024
)

// MemoryNeed estimates how much memory the agent takes, in bytes: every sensor of max_sensors sends once a minute, and
// each reading is remembered until its repeat could not count any more. Pages of the store, which the system takes back
// when memory runs short, are not in it.
func (c *Config) MemoryNeed() Size {
	remembered := int64(c.Buffer.MaxSensors) * (int64(c.remembered())/int64(readingEvery) + 1)
	return memoryBase + Size(remembered*bytesOfRemembered+int64(c.Buffer.MaxSensors)*bytesOfSensor)
}

// remembered is how long a reading is remembered at most, from its own time to the largest seen.
func (c *Config) remembered() time.Duration {
	return time.Duration(c.Window.Size + c.Watermark.Delay + max(c.Window.AllowedLateness, c.Watermark.Delay))
}

// MemoryWarnings says, as Warnings does, that a memory limit in bytes is below what this configuration may need; nil if it
// is not, or if there is no limit (0).
func (c *Config) MemoryWarnings(limit int64) []string {
	need := c.MemoryNeed()
	if limit <= 0 || int64(need) <= limit {
		return nil
	}
	w := newWarner(c)
	w.warn(at("buffer", "max_sensors"), "sensors need %d MiB of memory with this delay, at a reading a minute each, and there are %d MiB: when they are used readings are refused as overflow (got %d)",
		(need+MiB-1)/MiB, limit>>20, c.Buffer.MaxSensors)
	return w.lines()
}
