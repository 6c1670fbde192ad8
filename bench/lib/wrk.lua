-- Configures the requests of wrk by environment variables, and prints the result as one line of JSON.
wrk.method = os.getenv("BENCH_METHOD")
local body = io.open(os.getenv("BENCH_BODY_FILE"), "rb"):read("*a")
if body ~= "" then wrk.body = body end

function done(summary, latency, requests)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  print(string.format('{"requests":%d,"micros":%d,"failed":%d}', summary.requests, summary.duration, failed))
end
