// The OWL API, with which Protégé loads ontologies, as a client: what an agent may load, one line for each step.
// Arguments: the dataset and the base, then for each agent its name and its access token ('' for none).
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.semanticweb.owlapi.apibinding.OWLManager;
import org.semanticweb.owlapi.model.IRI;
import org.semanticweb.owlapi.model.OWLOntologyLoaderConfiguration;
import org.semanticweb.owlapi.model.OWLOntologyManager;

class OwlApiClient {
  static void step(String agent, String name, String token, String url) {
    Object outcome;
    try {
      OWLOntologyManager manager = OWLManager.createOWLOntologyManager();
      OWLOntologyLoaderConfiguration configuration = manager.getOntologyLoaderConfiguration();
      if (!token.isEmpty()) {
        String credential = Base64.getEncoder().encodeToString(("any:" + token).getBytes(StandardCharsets.UTF_8));
        manager.setOntologyLoaderConfiguration(configuration.setAuthorizationValue("Basic " + credential));
      }
      outcome = manager.loadOntology(IRI.create(url)).classesInSignature().count();
    } catch (Exception e) {
      java.util.regex.Matcher status = java.util.regex.Pattern.compile("40[13]").matcher(String.valueOf(e.getMessage()));
      outcome = status.find() ? status.group() : e;
    }
    System.out.println(agent + "\t" + name + "\t" + outcome);
  }

  public static void main(String[] args) {
    String dataset = args[0];
    String base = args[1];
    for (int at = 2; at < args.length; at += 2)
      for (String name : new String[] {"open", "hidden"}) {
        String document = base + name + "/";
        step(args[at], name, args[at + 1], document);
        step(args[at], name + " by its graph", args[at + 1], dataset + "/data?graph=" + URLEncoder.encode(document, StandardCharsets.UTF_8));
      }
  }
}
