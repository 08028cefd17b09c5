// Lets a replay go on by itself.

export class Clock {
  /** @param {() => void} tick is called when the time is up; it may start the clock again */
  constructor(tick) {
    this.tick = tick;
    this.timer = null;
  }

  get isRunning() {
    return this.timer !== null;
  }

  /** Run for so many milliseconds, whatever is left of those before. */
  start(ms) {
    this.stop();
    this.timer = setTimeout(() => {
      this.timer = null;
      this.tick();
    }, ms);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }
}
