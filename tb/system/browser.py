# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, spoken to by the DevTools protocol over a pipe (file descriptors 3 and 4), with the standard library only."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

PATIENCE = 120  # seconds for one answer, on a busy machine
# Pairs of texts of one drawing whose boxes overlap, in pixels; touching borders are no overlap.
OVERLAPS = """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect(), getComputedStyle(t)])
    .filter(([s, b, c]) => s.trim() && b.width > 0 && c.opacity !== '0' && c.visibility !== 'hidden');
  return texts.flatMap(([s, a], i) => texts.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    .map(([t]) => [svg.closest('.chart').id, s, t]));
})"""

# Texts that are cut off at the border of their drawing.
CUT = """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const whole = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => [t.textContent, t.getBoundingClientRect()])
    .filter(([s, b]) => b.width > 0 && (b.left < whole.left - 1 || b.right > whole.right + 1 || b.bottom > whole.bottom + 1))
    .map(([s]) => [svg.closest('.chart').id, s]);
})"""

# Texts that a line of a drawing crosses, grids left out; a mark of one character, which stands on a line, is no label.
STRUCK = """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim().length > 1 && getComputedStyle(t).opacity !== '0')
    .map(t => [t.textContent, t.getBoundingClientRect()]).filter(([s, b]) => b.width > 0);
  const lines = [...svg.querySelectorAll('.mark-line path, .mark-rule line, .role-axis-domain line, .role-axis-tick line')];
  const points = lines.flatMap(line => {
    const length = line.getTotalLength(), matrix = line.getScreenCTM(), steps = Math.ceil(length / 2);
    return [...Array(steps + 1).keys()].map(i => line.getPointAtLength(length * i / Math.max(1, steps)).matrixTransform(matrix));
  });
  return texts.filter(([s, b]) => points.some(p => p.x > b.left + 1 && p.x < b.right - 1 && p.y > b.top + 3 && p.y < b.bottom - 3)).map(([s]) => [svg.closest('.chart').id, s]);
})"""


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page. `events` holds what the browser told in the meantime: (method, parameters)."""

    def __init__(self, folder):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Chromium reads 3 and writes 4; sandboxes of their own do not work for root in a container.
        command = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars=false",
                   f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        shell = ["bash", "-c", f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"', "bash", *command]
        self._process = subprocess.Popen(shell, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def complaints(self, path):
        """What the page of a file said on the console, and what it asked for but the file itself."""
        said = [p for m, p in self.events if m in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        urls = [p["request"]["url"] for m, p in self.events if m == "Network.requestWillBeSent"]
        return said + [url for url in urls if not url.startswith("data:") and url != path.resolve().as_uri()]

    def close(self):
        self._process.terminate()
        self._process.wait(30)
        os.close(self._in)
        os.close(self._out)

    def _message(self, until):
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._message(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append((answer["method"], answer["params"]))

    def evaluate(self, expression):
        """The value of JavaScript in the page, as JSON has it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, path, condition, width=1200, height=900, dark=False):
        """Opens a file in a window of this size and waits until the JavaScript `condition` is true."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.scheme(dark)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        until = time.monotonic() + PATIENCE
        while not self.evaluate(condition):
            if time.monotonic() > until:
                raise TimeoutError(f"{path}: never {condition}")
            time.sleep(0.1)

    def scheme(self, dark, media=""):
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        """Of the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
